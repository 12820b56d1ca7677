import type { Api, Frontend } from "../api/api.ts";
import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { PRINCIPAL_FIELDS, type ResourceTemplate } from "../api/resource.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzPrincipalClaim = policyRule({
  id: "ACCESS_AUTHZ_PRINCIPAL_CLAIM",
  category: "ACCESS",
  purpose:
    "Checks that the frontends of a service map the claim of each principal field that authz.resource names.",
  checkRpc(rpc, report, { api, deployed }) {
    const template = rpc.resource?.template;
    // A service that reads the token itself sees every claim.
    if (template === undefined || deployed.authnMode === "idp_jwt") return;
    for (const field of principalFields(template)) {
      const lacking = frontendsOf(api, deployed.name).filter(
        ({ principalFields }) => !principalFields.includes(field),
      );
      if (lacking.length === 0) continue;
      report.atPolicy(
        `authz.resource: {principal.${field}} is always absent behind the frontend ${lacking
          .map(({ name }) => name)
          .join(", ")}, which does not map its claim; write claims: console there`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
  },
});

/** The fields that exist; ACCESS_AUTHZ_PLACEHOLDER_FIELD reports the others. */
function principalFields(template: ResourceTemplate): Set<string> {
  const fields = new Set<string>();
  for (const part of template.id === "*" ? [] : template.id) {
    if (part.kind !== "principal") continue;
    if (PRINCIPAL_FIELDS.some(({ name, list }) => name === part.field && !list))
      fields.add(part.field);
  }
  return fields;
}

function frontendsOf(api: Api, service: string): Frontend[] {
  return api.hosts
    .flatMap(({ frontends }) => frontends)
    .filter(({ services }) => services.includes(service));
}
