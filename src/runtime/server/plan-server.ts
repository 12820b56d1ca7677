import { auditProblems } from "../audit/open-audit.ts";
import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import { checkPolicies } from "../authorization/check-policies.ts";
import { bindServices } from "../binding/bind-services.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { RawMethod } from "../http/raw-route.ts";
import type { RouteDocument } from "../registry/route-entry.ts";
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
    ...(needsEngine ? checkPolicies(methods, loadModel(config)?.model) : []),
  ];
  if (problems.length > 0) throw new StartUpError(problems);
  return { methods, rawMethods: raw.methods, needsEngine };
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
