import { servesHost } from "../../config/check-edge.ts";
import type { EdgeConfig } from "../../config/config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import type { ListenerPlan } from "./plan.ts";

/** The listeners of the Gateway. */
export function planListeners(edge: EdgeConfig): ListenerPlan[] {
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

/**
 * The listeners that a host's routes attach to; empty for all of them.
 *
 * A host with an HTTPS listener is not served over HTTP: the session cookie needs TLS.
 */
export function sectionsOf(edge: EdgeConfig, host: string): string[] {
  const serving = edge.listeners.filter((listener) => servesHost(listener, host));
  const secure = serving.filter(({ protocol }) => protocol === "HTTPS");
  if (secure.length === 0 || secure.length === serving.length) return [];
  return secure.map(({ name }) => name).sort(compareText);
}
