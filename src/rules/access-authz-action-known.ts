import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { ofFile, policyRule } from "./rule.ts";

export const accessAuthzActionKnown = policyRule({
  id: "ACCESS_AUTHZ_ACTION_KNOWN",
  category: "ACCESS",
  purpose:
    "Checks that authz.action is a permission of the resource's type in the authorization model.",
  needsModel: true,
  checkRpc(rpc, report, { model }) {
    const action = rpc.policy.authz?.action;
    const type = rpc.resource?.template?.type;
    if (model === undefined || type === undefined) return;
    const definition = model.definitions.get(type);
    if (definition === undefined) {
      report.atPolicy(
        `authz.resource: the model defines no type "${type}"${ofFile(model)}${didYouMean(type, model.definitions.keys())}`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
      return;
    }
    if (!action || definition.permissions.has(action)) return;
    const why = definition.relations.has(action)
      ? `"${action}" is a relation of ${type}, not a permission; only permissions are checked`
      : `${type} has no permission "${action}"`;
    const permissions = [...definition.permissions.keys()];
    const hint =
      didYouMean(action, permissions) ||
      (permissions.length === 0 ? "; the type has none" : `; it has ${permissions.join(", ")}`);
    report.atPolicy(`authz.action: ${why}${hint}`, POLICY_FIELD.authz, AUTHZ_FIELD.action);
  },
});
