import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { formatResource } from "../api/resource.ts";
import { rpcRule } from "./rule.ts";
import { boundId, hasWrongPlaceholder, pathObjects } from "./support/path-objects.ts";
import { unusedObject } from "./support/unused-object.ts";

export const accessAuthzParentUnused = rpcRule({
  id: "ACCESS_AUTHZ_PARENT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that the check of an object binds each object that the path names above it, since nothing else says that they belong together.",
  checkRpc(rpc, report) {
    const template = rpc.resource?.template;
    if (template === undefined || hasWrongPlaceholder(rpc)) return;
    // The check of a wrong object is reported as that, with the id that binds what is above the right one.
    if (unusedObject(rpc) !== undefined) return;
    for (const { binding } of rpc.http) {
      if (binding === undefined) continue;
      const objects = pathObjects(binding, rpc);
      const checked = objects.findLastIndex(({ isUsed }) => isUsed);
      const above = objects.slice(0, Math.max(0, checked)).find(({ isUsed }) => !isUsed);
      if (above === undefined) continue;
      const { type } = template;
      report.atPolicy(
        `authz.resource: the path of ${rpc.name} names ${above.placeholder} above ${objects[checked]?.placeholder}, but only ${formatResource(template)} is checked, so one caller's object may be asked for below another's; write ${type}:${boundId(objects.slice(0, checked + 1))} where ids are made so, check the object above, or ignore this where the handler compares them`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
      return;
    }
  },
});
