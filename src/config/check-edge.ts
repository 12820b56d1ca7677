import type { PlatformConfig } from "./config.ts";
import type { EdgeConfig, IdentityConfig } from "./edge-config.ts";
import type { FrontendConfig } from "./frontend-config.ts";

/** An error in a configuration that conforms to the schema. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** An address as `URL` formats it. `node:net` could check it, too, but loads slowly. */
const IP_ADDRESS = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/;

/** The maximum length of an issuer and of a key set's URL in a SecurityPolicy. */
const MAX_URL = 253;

/**
 * Checks the configuration of the edge. It must reject everything that Kubernetes or
 * Envoy Gateway would reject: a rejected policy leaves its routes open.
 */
export function* checkEdge(config: PlatformConfig): Iterable<ConfigProblem> {
  const { edge, identity, frontends, services } = config;
  if (edge === undefined) return;
  if (identity === undefined) {
    yield { path: ["edge"], message: "edge needs identity, as the gateway logs callers in" };
  } else {
    yield* checkIdentity(identity);
  }
  yield* checkListeners(edge);
  for (const [name, frontend] of Object.entries(frontends)) {
    yield* checkFrontend(name, frontend, edge);
    for (const [index, service] of frontend.services.entries()) {
      const served = services?.[service];
      if (served !== undefined && served.backend === undefined) {
        yield {
          path: ["frontends", name, "services", index],
          message: `the service ${service} has no backend; the gateway needs one to forward to`,
        };
      }
    }
  }
}

function* checkIdentity(identity: IdentityConfig): Iterable<ConfigProblem> {
  for (const key of ["issuer", "jwks_uri"] as const) {
    const { length } = identity[key];
    if (length > MAX_URL) {
      yield {
        path: ["identity", key],
        message: `identity.${key} has ${length} characters; the limit is ${MAX_URL}`,
      };
    }
  }
  for (const key of ["token_endpoint", "jwks_uri"] as const) {
    if (IP_ADDRESS.test(new URL(identity[key]).hostname)) {
      yield {
        path: ["identity", key],
        message: `identity.${key} has an IP address, which Envoy Gateway rejects; write a host name`,
      };
    }
  }
}

function* checkListeners({ listeners }: EdgeConfig): Iterable<ConfigProblem> {
  const names = new Set<string>();
  for (const [index, listener] of listeners.entries()) {
    const at = (...path: string[]) => ["edge", "listeners", index, ...path];
    if (names.has(listener.name)) {
      yield { path: at("name"), message: `the name ${listener.name} is taken by another listener` };
    }
    names.add(listener.name);
    if (listener.protocol === "HTTPS" && listener.certificate === undefined) {
      yield {
        path: at(),
        message: "an HTTPS listener needs certificate, the Secret with its TLS certificate",
      };
    }
    if (listener.protocol === "HTTP" && listener.certificate !== undefined) {
      yield {
        path: at("certificate"),
        message: "an HTTP listener cannot have a certificate; write protocol: HTTPS",
      };
    }
  }
}

function* checkFrontend(
  name: string,
  frontend: FrontendConfig,
  { listeners }: EdgeConfig,
): Iterable<ConfigProblem> {
  if (!listeners.some((listener) => servesHost(listener, frontend.host))) {
    yield {
      path: ["frontends", name, "host"],
      message: `no listener serves ${frontend.host}, the host of the frontend ${name}; add one`,
    };
  }
  const serving = listeners.filter((listener) => servesHost(listener, frontend.host));
  const isPlain = frontend.redirect_url?.toLowerCase().startsWith("http:") === true;
  if (isPlain && serving.length > 0 && serving.every(({ protocol }) => protocol === "HTTPS")) {
    yield {
      path: ["frontends", name, "redirect_url"],
      message: `the redirect URL is http, but ${frontend.host} has HTTPS listeners only, so a login could not return; write https`,
    };
  }
  for (const [index, origin] of frontend.allowed_origins.entries()) {
    // The CRDs do not allow IPv6 addresses there.
    if (origin.includes("[")) {
      yield {
        path: ["frontends", name, "allowed_origins", index],
        message: `${JSON.stringify(origin)} of the frontend ${name} has an IPv6 address, which Envoy Gateway rejects; write a host name`,
      };
    }
  }
}

/** Whether a listener serves a host. */
export function servesHost({ hostname }: { hostname?: string | undefined }, host: string): boolean {
  if (hostname === undefined || hostname === host) return true;
  return (
    hostname.startsWith("*.") && host.endsWith(hostname.slice(1)) && host !== hostname.slice(2)
  );
}
