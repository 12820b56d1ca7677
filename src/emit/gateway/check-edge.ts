import { isIP } from "node:net";
import type { PlatformConfig } from "../../config/config.ts";
import { servesHost } from "./listeners.ts";

/** What the CRDs allow as an origin of CORS. */
const ORIGIN = /^https?:\/\/[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?$/;
/** The most characters of an issuer and of a key set's address in a SecurityPolicy. */
const MAX_URL = 253;

/**
 * What would make Kubernetes or Envoy Gateway refuse a policy. A refused
 * policy leaves its routes open, so nothing may be emitted then.
 */
export function checkEdge(config: PlatformConfig): string[] {
  const { edge, identity, frontends } = config;
  if (edge === undefined || identity === undefined) return ["edge needs identity"];
  const problems: string[] = [];
  for (const key of ["issuer", "jwks_uri"] as const) {
    if (identity[key].length > MAX_URL) {
      problems.push(
        `identity.${key} has ${identity[key].length} characters; ${MAX_URL} are the most`,
      );
    }
  }
  for (const key of ["token_endpoint", "jwks_uri"] as const) {
    const host = new URL(identity[key]).hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0) {
      problems.push(
        `identity.${key} has an IP address, which Envoy Gateway refuses; write a host name`,
      );
    }
  }
  for (const [name, frontend] of Object.entries(frontends)) {
    if (!edge.listeners.some((listener) => servesHost(listener, frontend.host))) {
      problems.push(
        `no listener serves ${frontend.host}, the host of the frontend ${name}; add one`,
      );
    }
    for (const origin of frontend.allowed_origins) {
      // `*` with credentials would let every site call as the user, and Envoy Gateway does not refuse it.
      if (!ORIGIN.test(origin) || origin.length > MAX_URL) {
        problems.push(
          `${JSON.stringify(origin)} of the frontend ${name} is no origin that CORS may allow`,
        );
      }
    }
  }
  return problems;
}
