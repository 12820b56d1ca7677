import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { rpcRule } from "./rule.ts";
import { unusedObject } from "./support/unused-object.ts";

export const accessAuthzObjectUnused = rpcRule({
  id: "ACCESS_AUTHZ_OBJECT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that a request that names an object of the checked type is checked on that object, and not on any or a fixed one.",
  checkRpc(rpc, report) {
    const template = rpc.resource?.template;
    const unused = unusedObject(rpc);
    if (template === undefined || unused === undefined) return;
    const checked = template.id === "*" ? "any of its type" : "another one";
    report.atPolicy(
      `authz.resource: the request of ${rpc.name} names the ${template.type} ${unused.placeholder}, but ${checked} is checked; write ${template.type}:${unused.instead}`,
      POLICY_FIELD.authz,
      AUTHZ_FIELD.resource,
    );
  },
});
