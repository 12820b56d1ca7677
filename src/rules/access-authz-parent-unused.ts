import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { formatResource } from "../api/resource.ts";
import { policyRule } from "./rule.ts";
import { boundId, hasWrongPlaceholder, pathObjects } from "./support/path-objects.ts";
import { unusedObject } from "./support/unused-object.ts";

export const accessAuthzParentUnused = policyRule({
  id: "ACCESS_AUTHZ_PARENT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that the check of an object includes each parent object in the path, since nothing else verifies that they belong together.",
  checkRpc(rpc, report) {
    const template = rpc.resource?.template;
    if (template === undefined || hasWrongPlaceholder(rpc)) return;
    // ACCESS_AUTHZ_OBJECT_UNUSED reports a check of the wrong object, with an id that includes the parents.
    if (unusedObject(rpc) !== undefined) return;
    for (const { binding } of rpc.http) {
      if (binding === undefined) continue;
      const objects = pathObjects(binding, rpc);
      const checked = objects.findLastIndex(({ isUsed }) => isUsed);
      const above = objects.slice(0, Math.max(0, checked)).find(({ isUsed }) => !isUsed);
      if (above === undefined) continue;
      const { type } = template;
      report.atPolicy(
        `authz.resource: the path of ${rpc.name} names ${above.placeholder} above ${objects[checked]?.placeholder}, but only ${formatResource(template)} is checked, so a caller can request an object below a parent of another caller; write ${type}:${boundId(objects.slice(0, checked + 1))} if ids have that form, check the parent object, or ignore this if the handler compares them`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
      return;
    }
  },
});
