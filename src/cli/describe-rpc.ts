import type { Api, DeployedService, Rpc } from "../api/api.ts";
import { PublishedRoutes } from "../api/published-routes.ts";
import { bindingsOf, hostBindingsOf, type Policy } from "../api/resolved-policy.ts";
import { formatResource, type ResourceTemplate } from "../api/resource.ts";
import { formatGrants, type PermissionGrants } from "../model/index.ts";

/** What explain says of an RPC, as lines of text. */
export function describeRpc(
  rpc: Rpc,
  policy: Policy,
  grants: PermissionGrants | undefined,
  edge: readonly string[],
): string[] {
  const { audit, rateLimit } = policy;
  const routes = bindingsOf(rpc).map(({ method, path }) => `  ${method} ${path}`);
  const lines = [
    rpc.fullName,
    ...routes,
    "",
    ...callersOf(policy).map((line) => `  ${line}`),
    ...(grants === undefined ? [] : ["", ...formatGrants(grants).map((line) => `  ${line}`)]),
    "",
    ...edge.map((line) => `  ${line}`),
    audit === undefined
      ? "  Calls are not audited."
      : `  Each call is audited as ${audit.event}${audit.resource === undefined ? "" : ` of ${formatResource(audit.resource)}`}, risk ${audit.riskLevel}, even if it is denied or fails.`,
    rateLimit === undefined
      ? "  There is no rate limit."
      : `  Each caller may call ${rateLimit.qps} times per second, with bursts of ${rateLimit.burst} calls.`,
  ];
  return lines;
}

/** Whether external callers reach it, which is possible even if it is not published. */
export function edgeLines(api: Api, rpc: Rpc, policy: Policy, name: string | undefined): string[] {
  const deployed = api.services.find((service) => service.name === name);
  if (policy.publish) {
    const connect = deployed === undefined ? [] : connectLines(api, rpc, deployed);
    return ["The edge gateway routes to it.", ...connect];
  }
  const covering =
    deployed === undefined ? undefined : new PublishedRoutes(api).covering(rpc, deployed);
  if (covering === undefined) {
    return ["The edge gateway does not route to it: only internal callers reach it."];
  }
  const how = `It is not published, but the edge gateway forwards ${covering.request} with the route of ${covering.route.owner.rpc.fullName}`;
  return [
    policy.exposure === "INTERNAL" || policy.exposure === "SYSTEM"
      ? `${how}; such a call is denied, as it has no internal token.`
      : `${how}: external callers reach it, too.`,
  ];
}

/** The paths with which Connect and gRPC-Web clients reach it. */
function connectLines({ hosts }: Api, rpc: Rpc, { name, publishedAs }: DeployedService): string[] {
  const names = hosts
    .filter(({ frontends }) =>
      frontends.some(({ connect, services }) => connect === true && services.includes(name)),
    )
    .map((host) => host.name);
  if (names.length === 0 || publishedAs === "grpc") return [];
  const path = `/${rpc.fullName}`;
  const methods = hostBindingsOf(rpc, publishedAs, true)
    .filter((binding) => binding.path === path)
    .map(({ method }) => method);
  return [
    `Clients of Connect and gRPC-Web call ${methods.join(" or ")} ${path} on ${names.join(", ")}.`,
  ];
}

function callersOf({ exposure, authz }: Policy): string[] {
  switch (exposure) {
    case "PUBLIC":
      return ["PUBLIC: anyone may call, without logging in."];
    case "AUTHENTICATED":
      return ["AUTHENTICATED: anyone who has logged in may call."];
    case "INTERNAL":
      return ["INTERNAL: only services may call, with an internal token. Never at the edge."];
    case "SYSTEM":
      return [
        "SYSTEM: only the platform itself may call, with the system token. Never at the edge.",
      ];
    case "AUTHORIZED": {
      if (authz === undefined) return [];
      return [
        `AUTHORIZED: a ${authz.audience} with the permission ${authz.action} on ${objectOf(authz.resource)} may call.`,
        `The check is ${authz.resource.type}#${authz.action} on ${formatResource(authz.resource)}.`,
      ];
    }
  }
}

/** The object in words: `the skill that skill_id of the request names`. */
function objectOf({ type, id }: ResourceTemplate): string {
  if (id === "*") return `at least one ${type}`;
  const names = id.flatMap((part) => {
    if (part.kind === "field") return [`${part.path} of the request`];
    if (part.kind === "segment") {
      return [`the segment ${part.segment} of ${part.path} of the request`];
    }
    return part.kind === "principal" ? [`${part.field} of the caller`] : [];
  });
  if (names.length === 0) return `one fixed ${type}`;
  return `the ${type} that ${names.join(" and ")} name${names.length === 1 ? "s" : ""}`;
}
