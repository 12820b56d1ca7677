import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { ROUTE_KEY_PREFIX } from "../../api/format.ts";

/** The parts of a key of the registry. */
export interface RouteKey {
  readonly service: string;
  /** The full method name. */
  readonly rpc: string;
  /** The process that has published it. */
  readonly instance: string;
}

/** The prefix of all keys of an environment. */
export function environmentPrefix(environment: string): string {
  return `${ROUTE_KEY_PREFIX}/${environment}/`;
}

/** The key of a route: `{service}/{package.Service}/{Method}` and the instance after the environment. */
export function routeKey(environment: string, route: string, instance: string): string {
  return `${environmentPrefix(environment)}${route}/${instance}`;
}

/** Reads a key; undefined if it does not belong to the environment. */
export function parseRouteKey(environment: string, key: string): RouteKey | undefined {
  const prefix = environmentPrefix(environment);
  if (!key.startsWith(prefix)) return undefined;
  const [service, protobufService, method, instance, ...more] = key.slice(prefix.length).split("/");
  if (service === undefined || !protobufService || !method || !instance || more.length > 0) {
    return undefined;
  }
  return { service, rpc: `${protobufService}/${method}`, instance };
}

/** A unique name for this process: its host name and a random part. */
export function newInstanceId(): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, "-")
      .slice(0, 63) || "host";
  return `${host}-${randomBytes(6).toString("hex")}`;
}
