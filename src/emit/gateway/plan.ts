import type { Exposure } from "../../api/policy.ts";
import type { CorsPlan, LoginPolicyPlan, OpenPolicyPlan } from "./plan-policies.ts";
import type { BackendPlan, BackendTarget, GrantPlan } from "./plan-references.ts";

/**
 * All that the gateway target decides, as plain data that survives JSON.
 *
 * The printer adds nothing of meaning: what can be proved of the plan holds for
 * the files. It has one entry for each match that Envoy will have.
 */
export interface GatewayPlan {
  readonly gateway: { readonly name: string; readonly namespace: string; readonly class: string };
  readonly listeners: readonly ListenerPlan[];
  /** Whose routes may attach: those of the Gateway's namespace, or of all. */
  readonly routesFrom: "Same" | "All";
  /** The policy on the Gateway that denies what no policy of a route covers; absent where the configuration wants none. */
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
  /** The namespace of all its resources: a policy has no other way to name a route. */
  readonly namespace: string;
  /** The listeners that its routes attach to; empty means all of the Gateway. */
  readonly sections: readonly string[];
  readonly cors?: CorsPlan;
  /** The one policy of all routes that ask who calls: two would be two sessions. */
  readonly login: LoginPolicyPlan;
  /** The policy of the PUBLIC routes, where they need one. */
  readonly open?: OpenPolicyPlan;
  readonly routes: readonly HttpRoutePlan[];
  /** What the gateway answers by itself on the routes of services. */
  readonly errors?: ErrorPlan;
  readonly limits: readonly LimitPlan[];
}

/** Whether a route stands behind the login. */
export type Access = "login" | "open";

/** An HTTPRoute. */
export interface HttpRoutePlan {
  readonly name: string;
  readonly access: Access;
  /** The SecurityPolicy that targets it; absent only for PUBLIC routes that need none. */
  readonly policy?: string;
  readonly rules: readonly RulePlan[];
}

/** A rule of an HTTPRoute. */
export interface RulePlan {
  /** The name by which a rate limit targets it. */
  readonly name?: string;
  readonly backend: BackendTarget;
  /** How long the answer may take; `0s` is for ever. */
  readonly timeout: string;
  readonly entries: readonly RouteEntry[];
}

/** A match, who it leads to, and what covers it. */
export interface RouteEntry {
  readonly owner: OwnerPlan;
  readonly exposure: Exposure;
  /** The template without its variables' names, as `match-order.ts` orders it: `/v1/skills/*`. */
  readonly shape: string;
  readonly match: RouteMatch;
  /** The policy that logs callers in; absent where `open` says why there is none. */
  readonly coveredBy?: string;
  readonly open?: "PUBLIC";
}

/** Who answers a request. */
export interface OwnerPlan {
  /** `login` is a path that the gateway itself answers: callback and logout. */
  readonly kind: "rpc" | "path" | "pages" | "login";
  /** The full method name, or the declared path. */
  readonly name: string;
}

/** A match as the Gateway API has it. */
export interface RouteMatch {
  readonly path: PathMatch;
  /** Absent for any method. */
  readonly method?: string;
  /** Whether it takes CORS preflights only. */
  readonly preflight?: true;
}

/** A path match as the Gateway API has it. */
export interface PathMatch {
  readonly type: "Exact" | "RegularExpression" | "PathPrefix";
  readonly value: string;
}

/** The policy that gives the gateway's own answers the form of the runtime's. */
export interface ErrorPlan {
  readonly name: string;
  /** The routes that it is for. */
  readonly routes: readonly string[];
}

/** A rate limit and the rules that it is for; each rule counts by itself. */
export interface LimitPlan {
  readonly name: string;
  /** Behind the login the subject is counted, elsewhere the client's address. */
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
  /** Why, as the end of a sentence. */
  readonly reason: string;
}
