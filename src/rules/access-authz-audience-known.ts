import { AUTHZ_FIELD, DEFAULT_AUDIENCE, POLICY_FIELD } from "../api/policy.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { subjectTypesOf } from "../model/index.ts";
import { ofFile, policyRule } from "./rule.ts";

export const accessAuthzAudienceKnown = policyRule({
  id: "ACCESS_AUTHZ_AUDIENCE_KNOWN",
  category: "ACCESS",
  purpose:
    "Checks that authz.audience is a subject type that can hold the action in the authorization model.",
  needsModel: true,
  checkRpc(rpc, report, { model }) {
    const { action, audience } = rpc.policy.authz ?? {};
    const type = rpc.resource?.template?.type;
    if (model === undefined || !action || type === undefined) return;
    const at = audience === undefined ? AUTHZ_FIELD.action : AUTHZ_FIELD.audience;
    const subject = audience ?? DEFAULT_AUDIENCE;
    // ACCESS_AUTHZ_ACTION_KNOWN reports an unknown action, which has no known holders.
    const known = model.definitions.get(type)?.permissions.has(action) === true;
    if (!model.definitions.has(subject)) {
      const types = [...model.definitions.keys()].sort();
      report.atPolicy(
        `authz.audience: the model defines no subject type "${subject}"${ofFile(model)}${didYouMean(subject, types) || typesOf(types)}`,
        POLICY_FIELD.authz,
        at,
      );
      return;
    }
    if (!known) return;
    const holders = subjectTypesOf(model, type, action);
    if (holders.has(subject)) return;
    const who = holders.size === 0 ? "nobody can" : `${[...holders].sort().join(", ")} can`;
    report.atPolicy(
      `authz.audience: a ${subject} can never hold ${action} on ${type}; ${who}`,
      POLICY_FIELD.authz,
      at,
    );
  },
});

/** A large model has many. */
const MAX_NAMED = 20;

function typesOf(types: readonly string[]): string {
  const rest = types.length > MAX_NAMED ? `, and ${types.length - MAX_NAMED} more` : "";
  return types.length === 0 ? "" : `; its types are ${types.slice(0, MAX_NAMED).join(", ")}${rest}`;
}
