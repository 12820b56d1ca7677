/**
 * The route registry in etcd (`svc-access/runtime/registry`): what publishes routes, and what follows
 * them. Its import fails, and says what to install, where `etcd3` is not installed.
 */
export {
  ROUTE_KEY_PREFIX,
  ROUTE_SCHEMA_VERSION,
  type RouteDocument,
  type RouteEntry,
} from "../../api/format.ts";
export type { EtcdConnection } from "./etcd-client.ts";
export {
  parseRouteDocument,
  parseRouteEntry,
  RouteEntryError,
  readRouteDocument,
} from "./route-entry.ts";
export {
  publishRoutes,
  type RoutePublisher,
  type RoutePublisherOptions,
} from "./route-publisher.ts";
export type { RegisteredRoute } from "./route-table.ts";
export { type RouteWatch, type RouteWatchOptions, watchRoutes } from "./route-watch.ts";
