import type { Rpc } from "../api/api.ts";
import { type Audit, bindingsOf, type Policy, resolvePolicy } from "../api/resolved-policy.ts";
import { formatResource } from "../api/resource.ts";

/** The policy of one RPC as documents carry it: the annotation with its defaults, in protobuf's JSON names. */
export interface PolicyDocument {
  readonly exposure: Policy["exposure"];
  readonly authz?: {
    readonly action: string;
    readonly resource: string;
    readonly audience: string;
    readonly mode: string;
  };
  readonly audit?: {
    readonly event: string;
    readonly riskLevel: string;
    readonly resource?: string;
  };
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly gateway: { readonly publish: boolean; readonly methods: readonly string[] };
}

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
