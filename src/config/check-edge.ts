import type { EdgeConfig, FrontendConfig, IdentityConfig, PlatformConfig } from "./config.ts";

/** Something that is wrong with a configuration whose keys and types are right. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What a URL writes for an address, however it was written. `node:net`, which knows too, takes long to load. */
const IP_ADDRESS = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/;

/** The most characters of an issuer and of a key set's address in a SecurityPolicy. */
const MAX_URL = 253;

/**
 * Checks what the edge needs. What Kubernetes or Envoy Gateway would refuse is
 * refused here: a refused policy leaves its routes open.
 */
export function* checkEdge(config: PlatformConfig): Iterable<ConfigProblem> {
  const { edge, identity, frontends, services } = config;
  if (edge === undefined) return;
  if (identity === undefined) {
    yield { path: ["edge"], message: "edge needs identity: the gateway logs callers in" };
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
          message: `the service ${service} has no backend that the gateway could forward to`,
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
        message: `identity.${key} has ${length} characters; ${MAX_URL} are the most`,
      };
    }
  }
  for (const key of ["token_endpoint", "jwks_uri"] as const) {
    if (IP_ADDRESS.test(new URL(identity[key]).hostname)) {
      yield {
        path: ["identity", key],
        message: `identity.${key} has an IP address, which Envoy Gateway refuses; write a host name`,
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
        message: "an HTTPS listener needs certificate, the Secret of its TLS certificate",
      };
    }
    if (listener.protocol === "HTTP" && listener.certificate !== undefined) {
      yield {
        path: at("certificate"),
        message: "an HTTP listener has no certificate; write protocol: HTTPS",
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
      message: `the redirect URL is http, but ${frontend.host} is served with HTTPS only: a login could not return; write https`,
    };
  }
  for (const [index, origin] of frontend.allowed_origins.entries()) {
    // The CRDs have no address of IPv6 there.
    if (origin.includes("[")) {
      yield {
        path: ["frontends", name, "allowed_origins", index],
        message: `${JSON.stringify(origin)} of the frontend ${name} has an address of IPv6, which Envoy Gateway refuses; write a host name`,
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
