import { auditProblems } from "../audit/open-audit.ts";
import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import { checkPolicies } from "../authorization/check-policies.ts";
import { bindServices } from "../binding/bind-services.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { RawMethod } from "../http/raw-route.ts";
import type { RouteDocument } from "../registry/route-entry.ts";
import { tlsProblems } from "../tls/tls-problems.ts";
import { bindRawHandlers } from "./bind-raw-handlers.ts";
import { loadModel } from "./open-engine.ts";
import type { ServerOptions } from "./server-options.ts";
import { StartUpError } from "./start-up-error.ts";

/** What a server will serve; nothing is opened yet. */
export interface ServerPlan {
  readonly methods: readonly BoundMethod[];
  readonly rawMethods: readonly RawMethod[];
  /** Whether any call is checked. */
  readonly needsEngine: boolean;
  /** What is allowed, and is hardly meant. */
  readonly warnings: readonly string[];
}

/**
 * Holds services, policies, handlers, model and configuration against each other.
 *
 * @throws StartUpError with all that does not fit
 */
export function planServer(options: ServerOptions): ServerPlan {
  const { configuration, bindings, routes, rawHandlers = [] } = options;
  const { config } = configuration;
  const { authz } = config.security;
  const { methods, problems: bindingProblems } = bindServices(bindings);
  const raw = bindRawHandlers(rawHandlers, routes?.paths ?? [], methods.length);
  const isChecked = authz.enabled && !authz.dev_allow_all;
  const needsEngine = isChecked && methods.some(({ policy }) => policy.authz !== undefined);
  const problems = [
    ...bindingProblems,
    ...raw.problems,
    ...routeProblems(routes, methods, config.service),
    ...checkAuthnConfig(config).map(({ message }) => message),
    ...auditProblems(methods, config.database),
    ...transportProblems(options, methods),
    ...tlsProblems(config.server),
    ...(needsEngine && options.engine === undefined ? engineProblems(methods, config) : []),
    ...(needsEngine ? modelProblems(methods, config) : []),
  ];
  if (problems.length > 0) throw new StartUpError(problems);
  const warnings = options.authenticators === undefined ? unreachable(methods, config) : [];
  return { methods, rawMethods: raw.methods, needsEngine, warnings };
}

/** What the engine would lack; a service without AUTHORIZED RPCs needs none of it. */
function engineProblems(
  methods: readonly BoundMethod[],
  { security: { authz }, database }: ServiceConfig,
): string[] {
  const who = `${firstAndMore(methods.filter(({ policy }) => policy.authz !== undefined))} must be authorized`;
  const problems: string[] = [];
  if (authz.model === undefined) {
    problems.push(`${who}, and security.authz.model is missing: name the file of the model`);
  }
  if (authz.provider === "spicedb" && authz.spicedb === undefined) {
    problems.push(`${who}, and security.authz.spicedb is missing: the provider is spicedb`);
  }
  if (authz.provider === "embedded" && database === undefined) {
    problems.push(
      `${who}, and database is missing: the embedded engine keeps its relationships there`,
    );
  }
  return problems;
}

function modelProblems(methods: readonly BoundMethod[], config: ServiceConfig): readonly string[] {
  try {
    return checkPolicies(methods, loadModel(config)?.model);
  } catch (error) {
    if (error instanceof StartUpError) return error.problems;
    throw error;
  }
}

/** The RPCs that nobody can call, for their token is not configured. */
function unreachable(
  methods: readonly BoundMethod[],
  { security: { authn } }: ServiceConfig,
): string[] {
  const { enabled, token, system_token: systemToken } = authn.internal_call;
  const tokens = { INTERNAL: ["token", token], SYSTEM: ["system_token", systemToken] } as const;
  return (["INTERNAL", "SYSTEM"] as const).flatMap((exposure) => {
    const [key, value] = tokens[exposure];
    const found = methods.filter(({ policy }) => policy.exposure === exposure);
    if (found.length === 0 || (enabled && value !== undefined)) return [];
    const mend = `security.authn.internal_call.${enabled ? key : "enabled"}`;
    return [`nobody can call ${firstAndMore(found)}, which is ${exposure}, without ${mend}`];
  });
}

function firstAndMore([first, ...others]: readonly BoundMethod[]): string {
  return `${first?.rpc}${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

/** The document must be of the same run of the generator as the bindings. */
function routeProblems(
  document: RouteDocument | undefined,
  methods: readonly BoundMethod[],
  service: string,
): string[] {
  if (document === undefined) return [];
  const problems: string[] = [];
  if (document.service !== service) {
    problems.push(
      `the routes are those of ${document.service}, and the configuration is of ${service}`,
    );
  }
  const bound = new Map(methods.map((method) => [method.rpc, method]));
  for (const { entry } of document.routes) {
    const method = bound.get(entry.rpc);
    if (method === undefined) {
      problems.push(`the routes name ${entry.rpc}, which is not bound: bind its service`);
    } else if (method.policy.exposure !== entry.exposure) {
      problems.push(
        `the routes say that ${entry.rpc} is ${entry.exposure}, and its binding ${method.policy.exposure}: run buf generate again`,
      );
    }
    bound.delete(entry.rpc);
  }
  for (const rpc of bound.keys()) {
    problems.push(`${rpc} is bound and is not in the routes: run buf generate again`);
  }
  return problems;
}

function transportProblems(
  { configuration, rawHandlers = [] }: ServerOptions,
  methods: readonly BoundMethod[],
): string[] {
  const { http, grpc } = configuration.config.server;
  if (http === undefined && grpc === undefined) {
    return ["server.http or server.grpc is needed: without one nothing is served"];
  }
  const problems: string[] = [];
  if (http === undefined && rawHandlers.length > 0) {
    problems.push("there are raw handlers and no server.http to serve them");
  }
  if (grpc === undefined) {
    for (const { rpc } of methods.filter(({ routes }) => routes.length === 0)) {
      problems.push(`${rpc} has no HTTP route, and there is no server.grpc to serve it`);
    }
  }
  return problems;
}
