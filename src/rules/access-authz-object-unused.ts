import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";
import { unusedObject } from "./support/unused-object.ts";

export const accessAuthzObjectUnused = policyRule({
  id: "ACCESS_AUTHZ_OBJECT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that authz.resource uses the object of its type that the request names, and not any object or a fixed one.",
  checkRpc(rpc, report) {
    const template = rpc.resource?.template;
    const unused = unusedObject(rpc);
    if (template === undefined || unused === undefined) return;
    const checked = template.id === "*" ? "any object of the type" : "another one";
    report.atPolicy(
      `authz.resource: the request of ${rpc.name} names the ${template.type} ${unused.placeholder}, but ${checked} is checked; write ${template.type}:${unused.instead}`,
      POLICY_FIELD.authz,
      AUTHZ_FIELD.resource,
    );
  },
});
