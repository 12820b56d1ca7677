import { parsePathTemplate, plainPath } from "../api/path-template.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { type ConfigProblem, checkEdge } from "./check-edge.ts";
import type { BackendConfig, PlatformConfig } from "./config.ts";
import { type SessionConfig, sessionOf } from "./frontend.ts";

/** Checks references between the parts of the configuration. */
export function checkConfig(config: PlatformConfig): ConfigProblem[] {
  return [
    ...checkPackages(config),
    ...checkFrontends(config),
    ...checkPaths(config),
    ...checkEdge(config),
  ];
}

function* checkPackages(config: PlatformConfig): Iterable<ConfigProblem> {
  const owners = new Map<string, string>();
  for (const [name, service] of Object.entries(config.services ?? {})) {
    for (const [index, packageName] of service.packages.entries()) {
      const owner = owners.get(packageName);
      if (owner !== undefined) {
        yield {
          path: ["services", name, "packages", index],
          message: `the package ${packageName} already belongs to ${owner}; only one service serves a package`,
        };
      }
      owners.set(packageName, name);
    }
    yield* checkBackend(["services", name, "backend"], service.backend);
  }
  yield* checkClients(config.clients ?? [], owners);
}

function* checkClients(
  clients: readonly string[],
  owners: ReadonlyMap<string, string>,
): Iterable<ConfigProblem> {
  const seen = new Set<string>();
  for (const [index, packageName] of clients.entries()) {
    const owner = owners.get(packageName);
    if (owner !== undefined) {
      yield {
        path: ["clients", index],
        message: `the package ${packageName} belongs to ${owner}, so its clients need no entry here; remove it from clients, or from services.${owner}.packages`,
      };
    } else if (seen.has(packageName)) {
      yield { path: ["clients", index], message: `the package ${packageName} is already listed` };
    }
    seen.add(packageName);
  }
}

function* checkFrontends(config: PlatformConfig): Iterable<ConfigProblem> {
  const services = Object.keys(config.services ?? {});
  const users = new Map<string, string>();
  for (const [name, frontend] of Object.entries(config.frontends)) {
    const at = (...path: (string | number)[]) => ["frontends", name, ...path];
    for (const [index, service] of frontend.services.entries()) {
      if (!services.includes(service)) {
        yield {
          path: at("services", index),
          message: `"${service}" is not a service of this file${didYouMean(service, services)}`,
        };
      }
      const user = users.get(`${frontend.host} ${service}`);
      if (user !== undefined) {
        yield {
          path: at("services", index),
          message: `the frontend ${user} already has ${service} on ${frontend.host}, and a request has only one session; give this frontend its own host`,
        };
      }
      users.set(`${frontend.host} ${service}`, name);
    }
    const session = sessionOf(frontend);
    if (session !== undefined) yield* checkSession(name, frontend.host, session);
    yield* checkBackend(at("backend"), frontend.backend);
  }
}

/** The login of a frontend. */
function* checkSession(
  name: string,
  host: string,
  { redirect_url, logout_path }: SessionConfig,
): Iterable<ConfigProblem> {
  const at = (key: string) => ["frontends", name, key];
  const redirect = new URL(redirect_url);
  if (redirect.hostname !== host) {
    yield {
      path: at("redirect_url"),
      message: `the redirect URL is on ${redirect.hostname}, but the frontend is on ${host}, so the session cookie would be lost`,
    };
  }
  if (redirect.username !== "" || redirect.password !== "") {
    yield {
      path: at("redirect_url"),
      message: "a redirect URL must not have a user name or password",
    };
  }
  if (!isCanonical(redirect_url.replace(/^[^:]*:\/\/[^/?#]*/, "").replace(/[?#].*$/s, ""))) {
    yield { path: at("redirect_url"), message: NOT_CANONICAL };
  }
  if (!isCanonical(logout_path)) yield { path: at("logout_path"), message: NOT_CANONICAL };
  if (redirect.search !== "" || redirect.hash !== "") {
    yield { path: at("redirect_url"), message: "a redirect URL must not have a query or fragment" };
  }
  if (redirect.pathname === "/") {
    yield {
      path: at("redirect_url"),
      message: "the redirect URL needs a separate path, such as /oauth2/callback",
    };
  }
  if (logout_path === "/" || logout_path === redirect.pathname) {
    yield {
      path: at("logout_path"),
      message: "the logout path must be a separate path, such as /logout",
    };
  }
}

const NOT_CANONICAL =
  "the path is not normalized as in requests: remove dot segments, empty segments, and escapes of letters, digits and - . _ ~";

/** Whether a path is normalized: proxies normalize the paths of requests, but not configured paths. */
function isCanonical(path: string): boolean {
  if (path === "") return true;
  const segments = path.split("/").slice(1);
  return segments.every((segment, index) => {
    if (segment === "") return index === segments.length - 1;
    const plain = segment.replaceAll(/%2e/gi, ".");
    return (
      plain !== "." &&
      plain !== ".." &&
      !/%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i.test(segment) &&
      !/%(?![0-9a-f]{2})/i.test(segment)
    );
  });
}

function* checkPaths(config: PlatformConfig): Iterable<ConfigProblem> {
  const services = Object.keys(config.services ?? {});
  const frontends = Object.keys(config.frontends);
  for (const [index, { service, frontend, path, match }] of config.paths.entries()) {
    const { template, error } = parsePathTemplate(plainPath(path, match));
    if (error !== undefined) {
      yield { path: ["paths", index, "path"], message: `"${path}": ${error}` };
    } else if (match === "prefix" && template.verb !== undefined) {
      yield { path: ["paths", index, "path"], message: `"${path}": a prefix cannot end in a verb` };
    }
    if (service !== undefined && !services.includes(service)) {
      yield {
        path: ["paths", index, "service"],
        message: `"${service}" is not a service of this file${didYouMean(service, services)}`,
      };
    }
    if (frontend !== undefined && !frontends.includes(frontend)) {
      yield {
        path: ["paths", index, "frontend"],
        message: `"${frontend}" is not a frontend of this file${didYouMean(frontend, frontends)}`,
      };
    } else if (frontend !== undefined && config.frontends[frontend]?.login === "bearer") {
      yield {
        path: ["paths", index, "frontend"],
        message: `the frontend ${frontend} has login: bearer, so it serves no path; set service to the service that serves ${path}`,
      };
    }
  }
}

function* checkBackend(
  path: readonly (string | number)[],
  backend: BackendConfig | undefined,
): Iterable<ConfigProblem> {
  // `frontends` have no ports, so their Service must name one.
  if (
    path[0] === "frontends" &&
    backend?.service !== undefined &&
    backend.service.port === undefined
  ) {
    yield { path: [...path, "service"], message: "the Service of a frontend needs a port" };
  }
}
