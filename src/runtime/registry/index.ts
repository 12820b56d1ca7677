export {
  createRoutePublisher,
  etcdConnectionOf,
} from "./create-route-publisher.ts";
export type { EtcdConnection } from "./etcd-client.ts";
export { readRouteDocument } from "./read-route-document.ts";
export {
  parseRouteDocument,
  parseRouteEntry,
  ROUTE_SCHEMA_VERSION,
  type RouteDocument,
  type RouteEntry,
  RouteEntryError,
} from "./route-entry.ts";
export { ROUTE_KEY_PREFIX } from "./route-keys.ts";
export {
  publishRoutes,
  type RoutePublisher,
  type RoutePublisherOptions,
} from "./route-publisher.ts";
export type { RegisteredRoute } from "./route-table.ts";
export { type RouteWatch, type RouteWatchOptions, watchRoutes } from "./route-watch.ts";
