import type { Exposure } from "../../api/policy.ts";
import type { CorsPlan, LoginPolicyPlan, OpenPolicyPlan } from "./plan-policies.ts";
import type { BackendPlan, BackendTarget, GrantPlan } from "./plan-references.ts";

/**
 * All decisions of the gateway target, as plain data that survives JSON.
 *
 * The printer makes no decisions, so what tests prove about the plan holds for the
 * files. The plan has one entry for each match in Envoy.
 */
export interface GatewayPlan {
  readonly gateway: { readonly name: string; readonly namespace: string; readonly class: string };
  readonly listeners: readonly ListenerPlan[];
  /** The namespaces whose routes may attach: the Gateway's, or all. */
  readonly routesFrom: "Same" | "All";
  /** The policy on the Gateway that denies requests without a route policy; absent if the configuration disables it. */
  readonly backstop?: string;
  readonly rateLimit: "local" | "global";
  readonly hosts: readonly HostPlan[];
  readonly backends: readonly BackendPlan[];
  readonly grants: readonly GrantPlan[];
  readonly leftOut: readonly LeftOut[];
}

/** A listener of the Gateway. */
export interface ListenerPlan {
  readonly name: string;
  readonly port: number;
  readonly protocol: "HTTPS" | "HTTP";
  readonly hostname?: string;
  readonly certificate?: { readonly name: string; readonly namespace?: string | undefined };
}

/** A host and the frontends on it. */
export interface HostPlan {
  readonly name: string;
  readonly frontends: readonly FrontendPlan[];
}

/** A frontend: its routes, and the policies that cover them. */
export interface FrontendPlan {
  readonly name: string;
  readonly host: string;
  /** The namespace of all its resources: a policy can only name routes in its own. */
  readonly namespace: string;
  /** The listeners that its routes attach to; empty means all listeners. */
  readonly sections: readonly string[];
  readonly cors?: CorsPlan;
  /** The policy of all authenticated routes. There is only one, since two policies would mean two sessions. */
  readonly login: LoginPolicyPlan;
  /** The policy of the PUBLIC routes; absent if they need none. */
  readonly open?: OpenPolicyPlan;
  readonly routes: readonly HttpRoutePlan[];
  /** The gateway's own error responses on the routes of services. */
  readonly errors?: ErrorPlan;
  readonly limits: readonly LimitPlan[];
}

/** Whether a route is behind the login. */
export type Access = "login" | "open";

/** An HTTPRoute. */
export interface HttpRoutePlan {
  readonly name: string;
  readonly access: Access;
  /** The SecurityPolicy that covers it; absent only for PUBLIC routes that need none. */
  readonly policy?: string;
  readonly rules: readonly RulePlan[];
}

/** A rule of an HTTPRoute. */
export interface RulePlan {
  /** The name that a rate limit refers to. */
  readonly name?: string;
  readonly backend: BackendTarget;
  /** The time limit of the response; `0s` means no limit. */
  readonly timeout: string;
  readonly entries: readonly PlannedRoute[];
}

/** A match, its owner, and the policy that covers it. */
export interface PlannedRoute {
  readonly owner: OwnerPlan;
  readonly exposure: Exposure;
  /** The template without its variable names: `/v1/skills/*`. */
  readonly shape: string;
  readonly match: RouteMatch;
  /** The policy that logs callers in; absent if `open` has the reason for its absence. */
  readonly coveredBy?: string;
  readonly open?: "PUBLIC";
}

/** The owner of a route, who serves its requests. */
export interface OwnerPlan {
  /** `login` is a path that the gateway itself serves: callback or logout. */
  readonly kind: "rpc" | "path" | "pages" | "login";
  /** The full method name, or the declared path. */
  readonly name: string;
}

/** A match of the Gateway API. */
export interface RouteMatch {
  readonly path: PathMatch;
  /** Absent for any method. */
  readonly method?: string;
  /** Whether it matches CORS preflights only. */
  readonly preflight?: true;
}

/** A path match of the Gateway API. */
export interface PathMatch {
  readonly type: "Exact" | "RegularExpression" | "PathPrefix";
  readonly value: string;
}

/** The policy that gives the gateway's own error responses the form of the runtime's. */
export interface ErrorPlan {
  readonly name: string;
  /** The routes that it covers. */
  readonly routes: readonly string[];
}

/** A rate limit and the rules that it covers; each rule counts separately. */
export interface LimitPlan {
  readonly name: string;
  /** Behind the login, requests are counted by subject, elsewhere by client address. */
  readonly by: "subject" | "address";
  readonly requestsPerSecond: number;
  readonly targets: readonly { readonly route: string; readonly rule: string }[];
}

/** A route that the Gateway API cannot express. */
export interface LeftOut {
  readonly host: string;
  readonly owner: OwnerPlan;
  /** `GET /v1/skills/*`. */
  readonly request: string;
  /** The reason, as the end of a sentence. */
  readonly reason: string;
}
