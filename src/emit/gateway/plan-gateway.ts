import type { Api } from "../../api/api.ts";
import { checkEdge } from "../../config/check-edge.ts";
import type { PlatformConfig } from "../../config/config.ts";
import type { EdgeConfig } from "../../config/edge-config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import { EmitError } from "../output-file.ts";
import type { GatewayPlan, HostPlan, LeftOut, ListenerPlan } from "./plan.ts";
import { planFrontend } from "./plan-frontend.ts";
import { planHost } from "./plan-host.ts";
import { References } from "./plan-references.ts";
import type { ClaimSource } from "./route-claims.ts";

/**
 * Makes all decisions of the gateway target.
 *
 * @throws EmitError if the configuration would leave a route without its policy
 */
export function planGateway(api: Api, config: PlatformConfig): GatewayPlan {
  const problems = [...checkEdge(config)].map(({ message }) => message);
  const { edge, identity } = config;
  if (edge === undefined || identity === undefined) throw planError(problems);
  const references = new References(problems);
  const services = new Map(
    api.services.map((service) => [
      service.name,
      { api: service, config: config.services?.[service.name] },
    ]),
  );
  const hosts: HostPlan[] = [];
  const leftOut: LeftOut[] = [];
  for (const host of sortedByName(api.hosts)) {
    const sources = sortedByName(host.frontends).map((frontend): ClaimSource => {
      const frontendConfig = config.frontends[frontend.name];
      if (frontendConfig === undefined) throw new Error(`${frontend.name} is not configured`);
      return { frontend, config: frontendConfig, services, references, problems };
    });
    const claims = planHost(host, sources, problems);
    leftOut.push(...claims.leftOut);
    hosts.push({
      name: host.name,
      frontends: sources.map((source) => planFrontend(source, claims, edge, identity)),
    });
  }
  for (const { certificate } of edge.listeners) {
    if (certificate === undefined) continue;
    const { namespace } = edge.gateway;
    references.refer(
      { kind: "Gateway", namespace },
      { kind: "Secret", name: certificate.name, namespace: certificate.namespace ?? namespace },
    );
  }
  if (problems.length > 0) throw planError(problems);
  const { name, namespace } = edge.gateway;
  const foreign = hosts.some(({ frontends }) =>
    frontends.some((each) => each.namespace !== namespace),
  );
  return {
    gateway: { name, namespace, class: edge.gateway.class },
    listeners: planListeners(edge),
    routesFrom: foreign ? "All" : "Same",
    ...(edge.backstop ? { backstop: `${name}.backstop` } : {}),
    rateLimit: edge.rate_limit,
    hosts,
    backends: references.backends(),
    grants: references.grants(),
    leftOut,
  };
}

function planError(problems: readonly string[]): EmitError {
  return new EmitError(
    "no gateway files can be generated:",
    ...problems.map((each) => `  ${each}`),
  );
}

function sortedByName<Named extends { readonly name: string }>(values: readonly Named[]): Named[] {
  return [...values].sort((left, right) => compareText(left.name, right.name));
}

/** The listeners of the Gateway. */
function planListeners(edge: EdgeConfig): ListenerPlan[] {
  return [...edge.listeners]
    .sort((left, right) => compareText(left.name, right.name))
    .map(({ name, port, protocol, hostname, certificate }): ListenerPlan => {
      return {
        name,
        port,
        protocol,
        ...(hostname === undefined ? {} : { hostname }),
        ...(certificate === undefined ? {} : { certificate }),
      };
    });
}
