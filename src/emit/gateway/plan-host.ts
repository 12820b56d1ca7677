import type { Host } from "../../api/api.ts";
import { loginPaths } from "../../config/frontend.ts";
import { describeInvalidMatch, GATEWAY_METHODS } from "./path-matcher.ts";
import type { LeftOut, PathMatch } from "./plan.ts";
import { assignMatches, type PathUnit } from "./precedence.ts";
import type { ClaimSource, RouteClaim } from "./route-claims.ts";
import { routeClaims } from "./route-claims.ts";

/** The routes of one host, before they are packed into resources. */
export interface HostClaims {
  /** The claims that the Gateway API can express, by the name of the frontend. */
  readonly claims: ReadonlyMap<string, readonly RouteClaim[]>;
  /** The path match of each shape: the frontends of a host share one order of precedence. */
  readonly matches: ReadonlyMap<string, PathMatch>;
  readonly leftOut: readonly LeftOut[];
}

/** Collects the routes of a host and decides the match of each path. */
export function planHost(
  host: Host,
  sources: readonly ClaimSource[],
  problems: string[],
): HostClaims {
  const leftOut: LeftOut[] = [];
  const leave = ({ owner, method, shape }: RouteClaim, reason: string) => {
    leftOut.push({ host: host.name, owner, request: `${method} ${shape}`, reason });
  };
  const claims = new Map<string, RouteClaim[]>();
  for (const source of sources) {
    const expressible = routeClaims(source).filter((claim) => {
      if (claim.method === "*" || GATEWAY_METHODS.has(claim.method)) return true;
      leave(claim, `the Gateway API has no method ${claim.method}`);
      return false;
    });
    claims.set(source.frontend.name, expressible);
  }
  checkFrontends(host, sources, claims, problems);

  const matches = assignMatches(unitsOf(sources, claims));
  for (const [frontend, all] of claims) {
    const valid = all.filter((claim) => {
      const reason = describeInvalidMatch(matches.get(claim.shape) as PathMatch);
      if (reason === undefined) return true;
      if (claim.owner.kind === "login") {
        problems.push(
          `${claim.owner.name} of the frontend ${frontend} cannot be routed: ${reason}`,
        );
      }
      leave(claim, reason);
      return false;
    });
    claims.set(frontend, valid);
  }
  addHeads(claims);
  return { claims, matches, leftOut };
}

/** A route for GET also gets HEAD, unless another route of the host claims it. */
function addHeads(claims: Map<string, RouteClaim[]>): void {
  const claimed = new Set<string>();
  for (const all of claims.values()) {
    for (const { method, shape } of all) if (method === "HEAD") claimed.add(shape);
  }
  for (const [frontend, all] of claims) {
    const withHeads = all.flatMap((claim) =>
      claim.method === "GET" && !claimed.has(claim.shape)
        ? [claim, { ...claim, method: "HEAD" }]
        : [claim],
    );
    claims.set(frontend, withHeads);
  }
}

function unitsOf(
  sources: readonly ClaimSource[],
  claims: ReadonlyMap<string, readonly RouteClaim[]>,
): PathUnit[] {
  const units = new Map<string, PathUnit & { methods: Set<string> }>();
  for (const { frontend, config } of sources) {
    for (const { shape, template, method } of claims.get(frontend.name) ?? []) {
      let unit = units.get(shape);
      if (unit === undefined) {
        unit = { shape, template, methods: new Set() };
        units.set(shape, unit);
      }
      unit.methods.add(method);
      if (method === "GET") unit.methods.add("HEAD");
      // The preflight of a path must have the precedence of the path.
      if (config.allowed_origins.length > 0) unit.methods.add("OPTIONS");
    }
  }
  return [...units.values()];
}

/** The implied routes of frontends on one host may conflict. */
function checkFrontends(
  host: Host,
  sources: readonly ClaimSource[],
  claims: ReadonlyMap<string, readonly RouteClaim[]>,
  problems: string[],
): void {
  const owners = new Map<string, string>();
  for (const { frontend, config } of sources) {
    for (const path of new Set(loginPaths(config))) {
      const key = `login ${path}`;
      const other = owners.get(key);
      if (other !== undefined) {
        problems.push(
          `the frontends ${other} and ${frontend.name} on ${host.name} both have ${path} as callback or logout path; give each its own`,
        );
      }
      owners.set(key, frontend.name);
    }
  }
  for (const [frontend, all] of claims) {
    for (const { method, shape, owner } of all) {
      const key = `${method} ${shape}`;
      const other = owners.get(key);
      // Callbacks are reported above.
      if (other !== undefined && owner.kind !== "login") {
        problems.push(
          `the frontends ${other} and ${frontend} both claim ${key} on ${host.name}; give each its own prefix`,
        );
      }
      owners.set(key, frontend);
    }
  }
}
