import type { Api } from "../../api/api.ts";
import { eachRpc } from "../../api/resolved-policy.ts";
import { servesHost } from "../../config/check-edge.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import type { GatewayPlan } from "./plan.ts";

/** The note for a repository without an `edge`. */
export function noEdge(configFile = "svc-access.yaml"): string {
  return `no gateway files: ${configFile} has no edge; run \`svc-access generate\` in the platform repository, with the images of all services`;
}

/** Notes for the user of the files. */
export function gatewayNotes(plan: GatewayPlan, api: Api): string[] {
  return [
    ...unusedServices(api),
    ...plan.hosts.flatMap(({ frontends }) =>
      frontends
        .filter(({ routes }) => routes.length === 0)
        .map(
          ({ name }) =>
            `the frontend ${name} has no routes: it has no backend, no paths and no published RPCs`,
        ),
    ),
    ...plan.leftOut.map(
      ({ host, owner, request, reason }) =>
        `${owner.name} has no route for ${request} on ${host}: ${reason}`,
    ),
    ...new Set(coveredPublic(plan)),
    ...plainListeners(plan),
    ...withoutLogin(plan),
    ...withoutConnect(api),
    ...grpcServices(plan),
  ];
}

function* unusedServices(api: Api): Iterable<string> {
  const used = new Set(
    api.hosts.flatMap(({ frontends }) => frontends.flatMap(({ services }) => services)),
  );
  const unused = new Map<string, number>();
  for (const { rpc, deployed } of eachRpc(api.services)) {
    if (rpc.policy?.gateway?.publish !== true || used.has(deployed.name)) continue;
    unused.set(deployed.name, (unused.get(deployed.name) ?? 0) + 1);
  }
  if (unused.size === 0) return;
  const names = [...unused.keys()].sort(compareText).join(", ");
  const count = [...unused.values()].reduce((sum, each) => sum + each, 0);
  yield `${count} published ${count === 1 ? "RPC has" : "RPCs have"} no route, as no frontend uses the service: ${names}`;
}

/** PUBLIC RPCs on a callback or logout path, which must stay behind the login. */
function* coveredPublic({ hosts }: GatewayPlan): Iterable<string> {
  for (const { name, frontends } of hosts) {
    for (const { name: frontend, routes } of frontends) {
      for (const { owner, exposure, coveredBy, shape } of entriesOf(routes)) {
        if (exposure !== "PUBLIC" || coveredBy === undefined || owner.kind !== "rpc") continue;
        yield `${owner.name} is PUBLIC, but ${shape} on ${name} is the callback or logout path of ${frontend}, which the gateway serves itself`;
      }
    }
  }
}

function entriesOf(routes: GatewayPlan["hosts"][number]["frontends"][number]["routes"]) {
  return routes.flatMap(({ rules }) => rules.flatMap(({ entries }) => entries));
}

function* plainListeners({ hosts, listeners }: GatewayPlan): Iterable<string> {
  const skipped = listeners.filter(
    (listener) =>
      listener.protocol === "HTTP" &&
      hosts.some(({ name, frontends }) =>
        frontends.some(({ sections }) => sections.length > 0 && servesHost(listener, name)),
      ),
  );
  for (const { name } of skipped) {
    yield `the listener ${name} has no routes of hosts with an HTTPS listener: the session cookie needs TLS`;
  }
}

/** Session cookies are Secure, so browsers do not send them over HTTP. */
function* withoutLogin({ hosts, listeners }: GatewayPlan): Iterable<string> {
  for (const { name, frontends } of hosts) {
    const serving = listeners.filter((listener) => servesHost(listener, name));
    if (serving.some(({ protocol }) => protocol === "HTTPS")) continue;
    for (const { name: frontend, login, routes } of frontends) {
      if (login.session === undefined || routes.length === 0) continue;
      yield `warning: users cannot log in to ${frontend}: ${name} has HTTP listeners only, and browsers send Secure session cookies over HTTPS only; add an HTTPS listener, or write login: bearer`;
    }
  }
}

/** The gRPC port serves gRPC only. */
function* withoutConnect({ services, hosts }: Api): Iterable<string> {
  const asGrpc = new Set(
    services.filter(({ publishedAs }) => publishedAs === "grpc").map(({ name }) => name),
  );
  for (const { name, services: used, connect } of hosts.flatMap(({ frontends }) => frontends)) {
    for (const service of used.filter((each) => connect === true && asGrpc.has(each))) {
      yield `connect: true of the frontend ${name} has no effect for ${service}, which is published as gRPC; write published_as: http for it`;
    }
  }
}

function* grpcServices({ hosts }: GatewayPlan): Iterable<string> {
  const targets = new Set<string>();
  for (const { routes } of hosts.flatMap(({ frontends }) => frontends)) {
    for (const { backend } of routes.flatMap(({ rules }) => rules)) {
      if (backend.kind !== "Service" || backend.h2c !== true) continue;
      targets.add(`port ${backend.port} of the Service ${backend.name} in ${backend.namespace}`);
    }
  }
  for (const target of [...targets].sort(compareText)) {
    yield `the gateway speaks gRPC to ${target}: write appProtocol: kubernetes.io/h2c there`;
  }
}
