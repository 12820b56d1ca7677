import type { Rpc } from "../api/api.ts";
import type { PolicyDocument } from "../api/format.ts";
import { type Audit, bindingsOf, resolvePolicy } from "../api/resolved-policy.ts";
import { formatResource } from "../api/resource.ts";

/** The policy of an RPC as a document. */
export function policyDocument(rpc: Rpc): PolicyDocument {
  const { exposure, authz, audit, rateLimit, publish } = resolvePolicy(rpc);
  const methods = publish ? [...new Set(bindingsOf(rpc).map(({ method }) => method))] : [];
  return {
    exposure,
    ...(authz === undefined
      ? {}
      : {
          authz: {
            action: authz.action,
            resource: formatResource(authz.resource),
            audience: authz.audience,
            mode: authz.mode,
          },
        }),
    ...(audit === undefined ? {} : { audit: auditDocument(audit) }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    gateway: { publish, methods: methods.sort() },
  };
}

function auditDocument({
  event,
  riskLevel,
  resource,
}: Audit): NonNullable<PolicyDocument["audit"]> {
  if (resource === undefined) return { event, riskLevel };
  return { event, riskLevel, resource: formatResource(resource) };
}
