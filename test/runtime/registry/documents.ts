import type { RouteDocument, RouteEntry } from "../../../src/runtime/registry/index.ts";

/** An entry of a service `hub`. */
export function entryOf(method: string, more: Partial<RouteEntry> = {}): RouteEntry {
  return {
    schemaVersion: 1,
    service: "hub",
    rpc: `hub.v1.HubService/${method}`,
    stream: "unary",
    exposure: "AUTHENTICATED",
    gateway: { publish: true, methods: ["GET"] },
    http: [{ method: "GET", path: `/v1/hub/${method.toLowerCase()}` }],
    ...more,
  };
}

/** The document of a service `hub` with some methods. */
export function documentOf(...entries: readonly RouteEntry[]): RouteDocument {
  return {
    $schema: "urn:svc-access:schema:routes:1",
    schemaVersion: 1,
    service: "hub",
    keyPrefix: "/svc/kernel/routes",
    routes: entries.map((entry) => ({ key: `hub/${entry.rpc}`, entry })),
    paths: [],
  };
}
