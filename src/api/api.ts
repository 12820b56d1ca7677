import type { AuthnMode } from "./authn-mode.ts";
import type { FieldReference } from "./field.ts";
import type { PathTemplate } from "./path-template.ts";
import type { DeclaredPolicy, Exposure, RiskLevel } from "./policy.ts";
import type { DescriptorPosition, Position } from "./position.ts";
import type { DeclaredResource } from "./resource.ts";

/**
 * The one intermediate model: what the descriptors and the platform
 * configuration declare, before any check.
 *
 * Plain data that survives JSON. Rules read it and yield findings; emitters
 * read it, once it has no errors, and yield files.
 */
export interface Api {
  /** The deployed services, by name. */
  readonly services: readonly DeployedService[];
  /** The protobuf services that are only called from here, by full name; no rule checks them. */
  readonly clients: readonly ProtobufService[];
  /** The protobuf services whose packages are neither of a configured service nor listed as clients, by full name. */
  readonly unassigned: readonly ProtobufService[];
  /** The hosts of the edge and what is published on each, by host. */
  readonly hosts: readonly Host[];
}

/** A process that is deployed as one: `hub`, `iam`. It may serve many protobuf services. */
export interface DeployedService {
  /** The name in `svc-access.yaml`, or the protobuf package if none is configured. */
  readonly name: string;
  /** Whether `svc-access.yaml` declares it. */
  readonly configured: boolean;
  /** The packages that `svc-access.yaml` gives it, or its own package if none is configured. */
  readonly packages: readonly string[];
  /** How the edge publishes its RPCs. */
  readonly publishedAs: "http" | "grpc";
  /** How it authenticates. */
  readonly authnMode: AuthnMode;
  /** The protobuf services, by full name. */
  readonly services: readonly ProtobufService[];
  /** The paths that it serves and that are not RPCs. */
  readonly paths: readonly DeclaredPath[];
  /** The name of the process that it shares its backend with; absent if it has a backend of its own. */
  readonly process?: string;
  /** The other origins whose pages may call it: those of all frontends that use it. Absent if there are none. */
  readonly allowedOrigins?: readonly string[];
}

/** A `service` of a protobuf file. */
export interface ProtobufService {
  /** The name without its package. */
  readonly name: string;
  /** The name with its package: `hub.skills.v1.SkillService`. */
  readonly fullName: string;
  readonly package: string;
  /** The file that declares it. */
  readonly file: string;
  /** The RPCs in the order of their declaration. */
  readonly rpcs: readonly Rpc[];
}

/** How many messages each side of an RPC sends. */
export type StreamKind = "unary" | "server_streaming" | "client_streaming" | "bidi_streaming";

/** `google.protobuf.MethodOptions.IdempotencyLevel`. */
export type IdempotencyLevel = "IDEMPOTENCY_UNKNOWN" | "NO_SIDE_EFFECTS" | "IDEMPOTENT";

/** One RPC with everything that its options declare. */
export interface Rpc {
  readonly name: string;
  /** The full method name as gRPC writes it, without the first slash: `hub.skills.v1.SkillService/GetSkill`. */
  readonly fullName: string;
  readonly stream: StreamKind;
  /** The full name of the request message. */
  readonly request: string;
  /** The full name of the response message. */
  readonly response: string;
  readonly idempotency: IdempotencyLevel;
  readonly deprecated: boolean;
  /** Whether a field of the request has `debug_redact`; only read if Connect's GET could carry the request. */
  readonly redactedRequest?: true;
  /** The annotation as written; absent if there is none or it cannot be trusted. */
  readonly policy?: DeclaredPolicy;
  /** Why the annotation cannot be trusted. */
  readonly policyProblems?: readonly PolicyProblem[];
  /** `authz.resource`, parsed, with the fields that its placeholders name. */
  readonly resource?: DeclaredResource;
  /** `audit.resource`, parsed, with the fields that its placeholders name. */
  readonly auditResource?: DeclaredResource;
  /** `google.api.http`: the rule and its additional bindings, in order. */
  readonly http: readonly HttpRule[];
  /** The position of the `rpc` keyword. */
  readonly position: DescriptorPosition;
}

/** A reason not to trust an annotation. */
export interface PolicyProblem {
  /** What is wrong and how to fix it. */
  readonly message: string;
  /** The field numbers that lead to it; empty for the whole annotation. */
  readonly path: readonly number[];
}

/** A path that is not an RPC: health, login, callback, logout, pages. */
export interface DeclaredPath {
  /** The deployed service that serves it; absent if a frontend does. */
  readonly service?: string;
  /** The frontend that serves it; absent if a service does. */
  readonly frontend?: string;
  /** The path as configured. */
  readonly path: string;
  /** Whether only the path itself matches, or all paths below it too. */
  readonly match: "exact" | "prefix";
  /** The template that a request must match. */
  readonly template: PathTemplate;
  /** The HTTP methods; `*` for all. */
  readonly methods: readonly string[];
  readonly exposure: Exposure;
  /** The audit event of a request; only for a path that a service serves. */
  readonly audit?: { readonly event: string; readonly riskLevel: RiskLevel };
  /** The token bucket of one caller; only for a path that a service serves. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly position: Position;
}

/** A host of the edge. */
export interface Host {
  readonly name: string;
  /** The frontends on it, by name. */
  readonly frontends: readonly Frontend[];
}

/** All paths below the prefix of a frontend, with any method. */
export interface Pages {
  readonly prefix: string;
  readonly template: PathTemplate;
  /** Where its backend is configured. */
  readonly position: Position;
}

/** A frontend: an application of the identity provider, bound to its own routes. */
export interface Frontend {
  readonly name: string;
  /** The deployed services whose published RPCs it calls. */
  readonly services: readonly string[];
  /** Whether its host routes `POST /<package>.<Service>/<Method>` to the published RPCs. */
  readonly connect?: true;
  /** The principal fields that the gateway fills for it. */
  readonly principalFields: readonly string[];
  /** The deployed services that serve its pages: those with the same backend. */
  readonly pagesOf?: readonly string[];
  /** The route of its pages; absent if it has no backend. */
  readonly pages?: Pages;
  /** The paths that it serves itself: pages, login, callback, logout. */
  readonly paths: readonly DeclaredPath[];
}

/** One HTTP rule of an RPC: `google.api.http` itself, or one of its additional bindings. */
export interface HttpRule {
  /** The rule's place below the RPC's option: empty, or `[11, index]` for an additional binding. */
  readonly path: readonly number[];
  /** The binding; absent if `problems` has an entry. */
  readonly binding?: HttpBinding;
  /** The errors in the rule. */
  readonly problems: readonly HttpRuleProblem[];
}

/** An error in an HTTP rule. */
export interface HttpRuleProblem {
  readonly message: string;
  /** The descriptor path of the wrong field, below the rule; empty for the whole rule. */
  readonly path: readonly number[];
}

/** A method and a path template that lead to an RPC, and how the request is read. */
export interface HttpBinding {
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template as written. */
  readonly path: string;
  readonly template: PathTemplate;
  /** The request field of each variable, in the order of `template.variables`. */
  readonly fields: readonly FieldReference[];
  /** The request field that is the body; `*` for all fields that the path does not bind; absent for no body. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}
