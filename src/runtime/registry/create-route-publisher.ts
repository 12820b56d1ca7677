import type { EtcdConfig, ServiceConfig } from "../configuration/service-config.ts";
import type { EtcdConnection } from "./etcd-client.ts";
import type { RouteDocument } from "./route-entry.ts";
import {
  publishRoutes,
  type RoutePublisher,
  type RoutePublisherOptions,
} from "./route-publisher.ts";

/** How etcd is reached, by its part of a configuration. */
export function etcdConnectionOf(etcd: EtcdConfig): EtcdConnection {
  const { endpoints, username, password } = etcd;
  const { ca_file: caFile, certificate_file: certificateFile, key_file: keyFile } = etcd;
  return { endpoints, username, password, caFile, certificateFile, keyFile };
}

/** What a publisher has that is not in the configuration. */
type RoutePublisherParts = Pick<RoutePublisherOptions, "instance" | "events" | "logger">;

/**
 * Publishes the routes of a service as its configuration says; undefined where it
 * names no registry, and the generated file is all there is.
 */
export function createRoutePublisher(
  config: ServiceConfig,
  documents: readonly RouteDocument[],
  { instance, events, logger }: RoutePublisherParts = {},
): RoutePublisher | undefined {
  if (config.registry === undefined) return undefined;
  const { etcd } = config.registry;
  return publishRoutes({
    etcd: etcdConnectionOf(etcd),
    environment: config.environment,
    documents,
    leaseTtlSeconds: etcd.lease_ttl_seconds,
    ...(instance === undefined ? {} : { instance }),
    ...(events === undefined ? {} : { events }),
    ...(logger === undefined ? {} : { logger }),
  });
}
