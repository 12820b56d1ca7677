import type { RouteDocument } from "../../api/format.ts";
import { partsOf } from "../../database/service/server-database.ts";
import { auditProblems } from "../audit/open-audit.ts";
import { checkAuthnConfig } from "../authn/check-authn-config.ts";
import { tokenSources } from "../authn/internal/token-sources.ts";
import { checkPolicies } from "../authorization/authorization-plan.ts";
import { bindServices } from "../binding/bind-services.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import {
  CREDENTIAL_KINDS,
  type CredentialKind,
  credentialTraits,
} from "../call/credential-kinds.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import type { RawMethod } from "../http/raw/raw-route.ts";
import { idempotencyProblems } from "../idempotency/open-idempotency.ts";
import { checkJobs, type TimedJob } from "../jobs/job.ts";
import { metricProblems } from "../observers/metrics/service-metric.ts";
import { checkServerTls } from "../tls/check-tls.ts";
import { bindRawHandlers } from "./bind-raw-handlers.ts";
import { missingDrivers } from "./missing-drivers.ts";
import { engineProblems, loadModel } from "./open-engine.ts";
import type { ServerOptions } from "./server-options.ts";

/** What a server will serve; nothing is opened yet. */
export interface ServerPlan {
  readonly methods: readonly BoundMethod[];
  readonly rawMethods: readonly RawMethod[];
  /** Whether any call is checked. */
  readonly needsEngine: boolean;
  readonly jobs: readonly TimedJob[];
  /** What is allowed, but probably not intended. */
  readonly warnings: readonly string[];
}

/**
 * Checks services, policies, handlers, model and configuration against each other.
 *
 * @param probes the paths that the server serves itself
 * @throws StartUpError with all mismatches
 */
export async function planServer(
  options: ServerOptions,
  probes: readonly string[],
): Promise<ServerPlan> {
  const { configuration, bindings, routes, rawHandlers = [] } = options;
  const { config } = configuration;
  const { authz } = config.security;
  const { methods, problems: bindingProblems, rpcs } = bindServices(bindings);
  const raw = bindRawHandlers(rawHandlers, routes?.paths ?? [], methods.length);
  const isChecked = authz.enabled && !authz.dev_allow_all;
  const authorized = methods.filter(({ policy }) => policy.authz !== undefined);
  // A service without AUTHORIZED RPCs needs no engine.
  const needsEngine = isChecked && authorized.length > 0;
  const opensEngine = needsEngine && options.engine === undefined;
  const jobs = checkJobs(options.jobs ?? [], config.database !== undefined);
  const problems = [
    ...bindingProblems,
    ...raw.problems,
    ...routeProblems(routes, methods, rpcs, config.service),
    ...checkAuthnConfig(config).map(({ message }) => message),
    ...auditProblems([...methods, ...raw.methods.map(({ method }) => method)], config.database),
    ...transportProblems(options),
    ...databaseProblems(options),
    ...jobs.problems,
    ...metricProblems(options.metrics ?? []),
    ...idempotencyProblems(options.idempotentRpcs ?? [], methods, config.database !== undefined),
    ...checkServerTls(config.server).flatMap(({ problems }) => problems),
    ...(await missingDrivers(config, opensEngine)),
    ...(opensEngine
      ? engineProblems(config).map(
          (lack) => `${firstAndMore(authorized)} must be authorized, but ${lack}`,
        )
      : []),
    ...(needsEngine ? modelProblems(methods, config) : []),
  ];
  if (problems.length > 0) throw new StartUpError(problems);
  const warnings = [
    ...(options.authenticators === undefined ? unreachable(methods, config) : []),
    ...raw.unserved.filter((path) => !probes.includes(path)).map(unserved),
  ];
  return { methods, rawMethods: raw.methods, needsEngine, jobs: jobs.jobs, warnings };
}

function modelProblems(methods: readonly BoundMethod[], config: ServiceConfig): readonly string[] {
  try {
    return checkPolicies(methods, loadModel(config));
  } catch (error) {
    if (error instanceof StartUpError) return error.problems;
    throw error;
  }
}

/** The RPCs that nobody can call because their token is not configured. */
function unreachable(
  methods: readonly BoundMethod[],
  { security: { authn } }: ServiceConfig,
): string[] {
  const { enabled } = authn.internal_call;
  const known = new Set<CredentialKind>(
    tokenSources(authn.internal_call).map(({ credential }) => credential),
  );
  return CREDENTIAL_KINDS.flatMap((credential) => {
    const { opens } = credentialTraits(credential);
    if (opens === undefined) return [];
    const { exposure, key } = opens;
    const found = methods.filter(({ policy }) => policy.exposure === exposure);
    if (found.length === 0 || (enabled && known.has(credential))) return [];
    const fix = `security.authn.internal_call.${enabled ? key : "enabled"}`;
    return [`nobody can call ${firstAndMore(found)}, which is ${exposure}, without ${fix}`];
  });
}

/** The routes document has the paths of this service only: those of others, and of frontends, are not in it. */
function unserved(path: string): string {
  return `nothing serves the declared path ${path}, so it answers 404: pass a raw handler for it, or remove it from paths in svc-access.yaml`;
}

function firstAndMore([first, ...others]: readonly BoundMethod[]): string {
  return `${first?.rpc}${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

/**
 * The document must come from the same run of the generator as the bindings.
 *
 * @param rpcs those of the services that are bound; what keeps one of them from being a method is reported already
 */
function routeProblems(
  document: RouteDocument | undefined,
  methods: readonly BoundMethod[],
  rpcs: ReadonlySet<string>,
  service: string,
): string[] {
  if (document === undefined) return [];
  const problems: string[] = [];
  if (document.service !== service) {
    problems.push(
      `the routes belong to ${document.service}, but the configuration to ${service}: correct "service" there, or pass the routes of ${service}`,
    );
  }
  const bound = new Map(methods.map((method) => [method.rpc, method]));
  for (const { entry } of document.routes) {
    const method = bound.get(entry.rpc);
    if (method === undefined && rpcs.has(entry.rpc)) continue;
    if (method === undefined) {
      problems.push(`the routes name ${entry.rpc}, which is not bound: bind its service`);
    } else if (method.policy.exposure !== entry.exposure) {
      problems.push(
        `the routes say that ${entry.rpc} is ${entry.exposure}, but its binding is ${method.policy.exposure}: run buf generate again`,
      );
    }
    bound.delete(entry.rpc);
  }
  const routed = new Set(document.routes.map(({ entry }) => packageOf(entry.rpc)));
  const unlisted = new Map<string, BoundMethod[]>();
  for (const method of bound.values()) {
    const name = packageOf(method.rpc);
    if (routed.has(name)) {
      problems.push(`${method.rpc} is bound, but not in the routes: run buf generate again`);
    } else {
      const siblings = unlisted.get(name);
      if (siblings === undefined) unlisted.set(name, [method]);
      else siblings.push(method);
    }
  }
  for (const [name, methods] of unlisted) {
    problems.push(
      `${firstAndMore(methods)} is bound, but not in the routes, which have nothing of the package ${name}: list it under services.${service}.packages in svc-access.yaml, and run buf generate`,
    );
  }
  return problems;
}

/** The package of a full method name: `hub.skills.v1` of `hub.skills.v1.SkillService/GetSkill`. */
function packageOf(rpc: string): string {
  const service = rpc.slice(0, rpc.lastIndexOf("/"));
  return service.slice(0, Math.max(service.lastIndexOf("."), 0));
}

/** Audit is stored in the database of the options, so it must be the configured one. */
function databaseProblems({ configuration, database }: ServerOptions): string[] {
  if (database === undefined) return [];
  const parts = partsOf(database);
  if (parts === undefined) {
    return ["database is not the result of openServiceDatabase of svc-access/database: pass that"];
  }
  const configured = configuration.config.database;
  const isConfigured = (["driver", "file", "url"] as const).every(
    (key) => parts.settings[key] === configured?.[key],
  );
  if (isConfigured) return [];
  return [
    `${database.name} is not the one of the configuration: open it with the configuration of the server`,
  ];
}

function transportProblems({ configuration, rawHandlers = [] }: ServerOptions): string[] {
  const { http, grpc } = configuration.config.server;
  if (http === undefined && grpc === undefined) {
    return ["server.http or server.grpc is needed: without one nothing is served"];
  }
  const problems: string[] = [];
  if (http === undefined && rawHandlers.length > 0) {
    problems.push("there are raw handlers, but no server.http to serve them");
  }
  return problems;
}
