export {
  ROUTE_KEY_PREFIX,
  ROUTE_SCHEMA_VERSION,
  type RouteDocument,
  type RouteEntry,
} from "../../api/format/route-document.ts";
export type { EtcdConnection } from "./etcd-client.ts";
export { readRouteDocument } from "./read-route-document.ts";
export { parseRouteDocument, parseRouteEntry, RouteEntryError } from "./route-entry.ts";
export {
  createRoutePublisher,
  etcdConnectionOf,
  publishRoutes,
  type RoutePublisher,
  type RoutePublisherOptions,
} from "./route-publisher.ts";
export type { RegisteredRoute } from "./route-table.ts";
export { type RouteWatch, type RouteWatchOptions, watchRoutes } from "./route-watch.ts";
