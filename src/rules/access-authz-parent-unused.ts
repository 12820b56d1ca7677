import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { formatResource } from "../api/resource.ts";
import { fieldsOfResource, pathObjects } from "./path-objects.ts";
import { atPolicy, rpcRule } from "./rule.ts";

export const accessAuthzParentUnused = rpcRule({
  id: "ACCESS_AUTHZ_PARENT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that the check of an object binds each object that the path names above it, since nothing else says that they belong together.",
  *checkRpc(rpc) {
    const template = rpc.resource?.template;
    if (template === undefined) return;
    const used = fieldsOfResource(rpc);
    if (used.size === 0) return;
    for (const { binding } of rpc.http) {
      if (binding === undefined) continue;
      const objects = pathObjects(binding);
      const checked = objects.findLast(({ field }) => used.has(field));
      const above = objects.find(
        ({ field, index }) => !used.has(field) && checked !== undefined && index < checked.index,
      );
      if (checked === undefined || above === undefined) continue;
      const { type } = template;
      yield atPolicy(
        rpc,
        `authz.resource: the path of ${rpc.name} names ${above.placeholder} above ${checked.placeholder}, but only ${formatResource(template)} is checked, so one caller's object may be asked for below another's; write ${type}:${above.placeholder}/${checked.placeholder} where ids are made so, check the object above, or ignore this where the handler compares them`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
      return;
    }
  },
});
