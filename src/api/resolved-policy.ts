import type { DeployedService, HttpBinding, ProtobufService, Rpc } from "./api.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";
import { type AuthzMode, DEFAULT_AUDIENCE, type Exposure, type RiskLevel } from "./policy.ts";
import type { ResourceTemplate } from "./resource.ts";

/** The policy that is enforced: the annotation with its defaults. */
export interface Policy {
  readonly exposure: Exposure;
  readonly authz?: Authz;
  readonly audit?: Audit;
  readonly rateLimit?: RateLimit;
  readonly publish: boolean;
}

/** The permission that an AUTHORIZED call needs. */
export interface Authz {
  readonly action: string;
  readonly resource: ResourceTemplate;
  readonly audience: string;
  readonly mode: AuthzMode;
}

/** The audit event of a call. */
export interface Audit {
  readonly event: string;
  readonly riskLevel: RiskLevel;
  /** The object that a call is about, if `authz` does not name it. */
  readonly resource?: ResourceTemplate;
}

/** The token bucket of one caller. */
export interface RateLimit {
  /** Calls a second. */
  readonly qps: number;
  /** The size of the bucket. */
  readonly burst: number;
}

/**
 * The policy of an RPC that has no findings of severity error.
 *
 * @throws Error if the annotation is not valid: nothing may replace a missing field,
 * so emitters must run only after the rules.
 */
export function resolvePolicy(rpc: Rpc): Policy {
  const { policy, resource } = rpc;
  const exposure = policy?.exposure;
  if (policy === undefined || typeof exposure !== "string") {
    throw new Error(`${rpc.fullName} has no exposure`);
  }
  const { authz, audit, rateLimit } = policy;
  return {
    exposure,
    publish: policy.gateway?.publish === true,
    ...(exposure === "AUTHORIZED" ? { authz: resolveAuthz(rpc.fullName, authz, resource) } : {}),
    ...(audit?.event === undefined
      ? {}
      : { audit: resolveAudit(rpc.fullName, audit.event, audit, rpc.auditResource) }),
    ...(rateLimit?.qps === undefined
      ? {}
      : { rateLimit: { qps: rateLimit.qps, burst: rateLimit.burst ?? rateLimit.qps } }),
  };
}

function resolveAuthz(
  rpc: string,
  authz: NonNullable<Rpc["policy"]>["authz"],
  resource: Rpc["resource"],
): Authz {
  if (!authz?.action || resource?.template === undefined) {
    throw new Error(`${rpc} has no action or no resource`);
  }
  return {
    action: authz.action,
    resource: resource.template,
    audience: authz.audience ?? DEFAULT_AUDIENCE,
    mode: "CHECK_ONLY",
  };
}

function resolveAudit(
  rpc: string,
  event: string,
  { riskLevel, risk }: NonNullable<NonNullable<Rpc["policy"]>["audit"]>,
  resource: Rpc["auditResource"],
): Audit {
  const audit = { event, riskLevel: riskLevelOf(riskLevel ?? risk) };
  if (resource === undefined) return audit;
  if (resource.template === undefined) throw new Error(`${rpc} audits no resource`);
  return { ...audit, resource: resource.template };
}

/** An event without a risk level has the lowest one. */
function riskLevelOf(level: RiskLevel | { unknown: number } | undefined): RiskLevel {
  return typeof level === "string" ? level : "LOW";
}

/** The bindings of an RPC; a published one without `google.api.http` has `POST /<package>.<Service>/<Method>`. */
export function bindingsOf(rpc: Rpc): readonly HttpBinding[] {
  if (rpc.http.length > 0) {
    return rpc.http.flatMap(({ binding }) => (binding === undefined ? [] : [binding]));
  }
  return rpc.policy?.gateway?.publish === true ? [implicitBinding(rpc)] : [];
}

/** The bindings with which the edge routes to an RPC; empty if it is not published. */
function publishedBindingsOf(
  rpc: Rpc,
  publishedAs: DeployedService["publishedAs"],
): readonly HttpBinding[] {
  if (rpc.policy?.gateway?.publish !== true) return [];
  return publishedAs === "grpc" ? [implicitBinding(rpc)] : bindingsOf(rpc);
}

/**
 * The bindings with which a host routes to an RPC: the published ones, and with `connect` those of
 * the Connect protocol and gRPC-Web. Empty if the RPC is not published.
 */
export function hostBindingsOf(
  rpc: Rpc,
  publishedAs: DeployedService["publishedAs"],
  connect: boolean,
): readonly HttpBinding[] {
  const published = publishedBindingsOf(rpc, publishedAs);
  // The gRPC port already has that path, and serves gRPC only.
  if (!connect || published.length === 0 || publishedAs === "grpc") return published;
  const path = `/${rpc.fullName}`;
  return [
    ...published,
    ...connectBindings(rpc, mayGet(rpc) && rpc.redactedRequest !== true).filter(
      ({ method }) => !published.some((each) => each.path === path && each.method === method),
    ),
  ];
}

/** All bindings with which a request for an RPC can reach its service, published or not. */
export function reachingBindingsOf(rpc: Rpc): readonly HttpBinding[] {
  return [...bindingsOf(rpc), ...connectBindings(rpc, mayGet(rpc))];
}

/** Whether Connect's GET can call an RPC: it has no side effects, and is bound to GET. */
export function mayGet(rpc: Rpc): boolean {
  return (
    rpc.idempotency === "NO_SIDE_EFFECTS" &&
    rpc.stream === "unary" &&
    bindingsOf(rpc).some(({ method }) => method === "GET")
  );
}

/** POST, and GET where that is asked for. */
function connectBindings(rpc: Rpc, withGet: boolean): HttpBinding[] {
  const post = implicitBinding(rpc);
  if (!withGet) return [post];
  const { path, template } = post;
  return [post, { method: "GET", path, template, fields: [] }];
}

/** The binding that gRPC itself uses. */
function implicitBinding(rpc: Rpc): HttpBinding {
  const path = `/${rpc.fullName}`;
  // A full method name has two segments of identifiers and dots.
  const template = parsePathTemplate(path).template as PathTemplate;
  return { method: "POST", path, template, fields: [], body: "*" };
}

/**
 * Whether an RPC writes: it has a binding other than GET or HEAD, or no
 * binding and no `idempotency_level = NO_SIDE_EFFECTS`.
 */
export function isWrite(rpc: Rpc): boolean {
  if (rpc.http.length === 0) return rpc.idempotency !== "NO_SIDE_EFFECTS";
  return bindingsOf(rpc).some(({ method }) => method !== "GET" && method !== "HEAD");
}

/** Each RPC of an `Api` with the services that hold it, in order. */
export function* eachRpc(
  services: readonly DeployedService[],
): Iterable<{ rpc: Rpc; service: ProtobufService; deployed: DeployedService }> {
  for (const deployed of services) {
    for (const service of deployed.services) {
      for (const rpc of service.rpcs) yield { rpc, service, deployed };
    }
  }
}
