import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type AccessPolicy, BINDING_FORMAT_VERSION } from "../../api/format.ts";
import type { AnyHandler, BoundMethod } from "./bound-method.ts";
import type { HttpRoute, ServiceBinding } from "./service-binding.ts";

/** The result of binding: all methods, or all problems. */
export interface BoundServices {
  readonly methods: readonly BoundMethod[];
  readonly problems: readonly string[];
  /** The RPCs of all services, also those with a problem. */
  readonly rpcs: ReadonlySet<string>;
}

const EXPOSURES = new Set(["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"]);

/**
 * Connects services, policies, routes and handlers. A mismatch in either direction is a problem: a
 * server with problems does not start.
 */
export function bindServices(bindings: readonly ServiceBinding[]): BoundServices {
  const methods: BoundMethod[] = [];
  const problems: string[] = [];
  const rpcs = new Set<string>();
  const bound = new Set<string>();
  if (bindings.length === 0)
    problems.push("no service is bound: pass the results of bind… functions");
  for (const binding of bindings) {
    const { service } = binding;
    for (const method of service?.methods ?? []) rpcs.add(nameOf(service, method));
    if (binding.formatVersion !== BINDING_FORMAT_VERSION) {
      problems.push(
        `${service?.typeName ?? "a service"} was generated in format ${String(binding.formatVersion)}, and this runtime knows ${BINDING_FORMAT_VERSION}: run buf generate with the same version of svc-access`,
      );
      continue;
    }
    if (bound.has(service.typeName)) {
      problems.push(`${service.typeName} is bound twice`);
      continue;
    }
    bound.add(service.typeName);
    problems.push(...mismatches(binding));
    for (const descriptor of service.methods) {
      const rpc = nameOf(service, descriptor);
      const policy = binding.policies[rpc];
      const handler = handlerOf(binding, descriptor);
      if (policy === undefined || handler === undefined) continue;
      const routes = binding.routes.filter((route) => route.rpc === rpc);
      const index = methods.length;
      const isWrite = changes(descriptor, routes);
      const kind = descriptor.methodKind;
      methods.push({ index, rpc, kind, descriptor, policy, isWrite, routes, handler });
    }
  }
  return { methods, problems, rpcs };
}

/** The problems of one binding by itself. */
function mismatches(binding: ServiceBinding): string[] {
  const { service, policies, routes } = binding;
  const problems: string[] = [];
  const names = new Set(service.methods.map((method) => nameOf(service, method)));
  for (const method of service.methods) {
    const rpc = nameOf(service, method);
    const policy = policies[rpc];
    if (policy === undefined) problems.push(`${rpc} has no policy: run buf generate again`);
    else problems.push(...policyProblems(rpc, policy));
    if (handlerOf(binding, method) === undefined) {
      problems.push(`${rpc} has no handler: write ${method.localName} of ${service.typeName}`);
    }
  }
  for (const rpc of Object.keys(policies)) {
    if (!names.has(rpc)) {
      problems.push(`there is a policy for ${rpc}, which ${service.typeName} does not have`);
    }
  }
  for (const { rpc, method, path } of routes) {
    if (!names.has(rpc)) {
      problems.push(
        `the route ${method} ${path} leads to ${rpc}, which ${service.typeName} does not have`,
      );
    }
  }
  return problems;
}

function policyProblems(rpc: string, policy: AccessPolicy): string[] {
  const problems: string[] = [];
  if (!EXPOSURES.has(policy.exposure)) {
    problems.push(`${rpc} has the unknown exposure ${String(policy.exposure)}`);
  }
  if ((policy.exposure === "AUTHORIZED") !== (policy.authz !== undefined)) {
    problems.push(`${rpc} must have authz if, and only if, it is AUTHORIZED`);
  }
  const { rateLimit } = policy;
  if (rateLimit !== undefined && !(rateLimit.qps >= 1 && rateLimit.burst >= rateLimit.qps)) {
    problems.push(
      `${rpc} has a rate limit of qps ${rateLimit.qps} and burst ${rateLimit.burst}: qps is at least 1, burst at least qps`,
    );
  }
  return problems;
}

function nameOf(service: DescService, method: DescMethod): string {
  return `${service.typeName}/${method.name}`;
}

function handlerOf(binding: ServiceBinding, { localName }: DescMethod): AnyHandler | undefined {
  const handlers = binding.handlers as Record<string, unknown> | undefined;
  const handler = handlers?.[localName];
  // What every object has is not a handler, but an RPC may have the name of it.
  const isInherited = handler === (Object.prototype as Record<string, unknown>)[localName];
  // Bound, so that handlers may be the methods of a class.
  return typeof handler === "function" && !isInherited
    ? (handler.bind(handlers) as AnyHandler)
    : undefined;
}

/** Whether an RPC is a write: by its HTTP methods, else by its declared side effects. */
function changes(method: DescMethod, routes: readonly HttpRoute[]): boolean {
  const declared = routes.filter((route) => !isImplied(route));
  if (declared.length > 0) {
    return declared.some(({ method }) => method !== "GET" && method !== "HEAD");
  }
  return method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Whether a route is the one of a published RPC without `google.api.http`. */
function isImplied({ rpc, method, path }: HttpRoute): boolean {
  return method === "POST" && path === `/${rpc}`;
}
