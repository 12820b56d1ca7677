import { setTimeout as sleep } from "node:timers/promises";
import type { Etcd3 } from "etcd3";
import type { RouteDocument } from "../../api/format.ts";
import type { Logger } from "../../common/logger.ts";
import type { EtcdConfig, ServiceConfig } from "../configuration/service-config.ts";
import { NO_EVENTS, type RuntimeEvents } from "../events/runtime-events.ts";
import { connectEtcd, type EtcdConnection, etcdDeadline } from "./etcd-client.ts";
import {
  grantLease,
  keepLeaseAlive,
  keepSession,
  revokeLease,
  settledSoon,
} from "./etcd-session.ts";
import { newInstanceId, routeKey } from "./route-keys.ts";

/** What is published, and where. */
export interface RoutePublisherOptions {
  /** How etcd is reached. */
  readonly etcd: EtcdConnection;
  /** The environment, which is part of each key: `/svc/kernel/routes/{environment}`. */
  readonly environment: string;
  /** The generated documents of the services that this process serves. */
  readonly documents: readonly RouteDocument[];
  /** How long the entries outlive this process if it is killed, in seconds. */
  readonly leaseTtlSeconds: number;
  /** The name of this process in keys; a new one if absent. */
  readonly instance?: string;
  /** @internal Counts what happens, for metrics of the server; absent, nothing is counted. */
  readonly events?: RuntimeEvents;
  /** Logs when routes are published, and when the registry is lost; absent, nothing is logged. */
  readonly logger?: Logger;
}

/** etcd takes 128 operations in a transaction, and 1.5 MB in a request, unless configured otherwise. */
const MAX_BATCH = 100;
const MAX_BATCH_BYTES = 512 * 1024;

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Publishes the routes of this process in etcd, under a lease of its own, for as long
 * as it lives. Without etcd the process serves all the same: only readiness waits for
 * the first publication.
 */
export class RoutePublisher {
  /** The name of this process in keys. */
  readonly instance: string;
  readonly #options: RoutePublisherOptions;
  readonly #batches: readonly (readonly Entry[])[];
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #isPublished = false;

  /** Publishes nothing before `start`; `publishRoutes` does both. */
  constructor(options: RoutePublisherOptions) {
    this.#options = options;
    this.instance = options.instance ?? newInstanceId();
    this.#batches = batches(entriesOf(options, this.instance));
  }

  /** Begins to publish; does not wait for it. */
  start(): void {
    this.#running ??= keepSession(
      {
        connect: () => connectEtcd(this.#options.etcd),
        run: (client, established, signal) => this.#publish(client, established, signal),
        lost: (error, wasEstablished) => this.#lost(error, wasEstablished),
      },
      this.#abort.signal,
    );
  }

  /** The check of readiness: it waits for the first publication, and for nothing after it. */
  readonly readiness = (): string | undefined =>
    this.#isPublished ? undefined : "the routes are not published yet";

  /** Removes the entries of this process, and no others. Does not fail without etcd. */
  async close(): Promise<void> {
    this.#abort.abort();
    if (this.#running !== undefined) await settledSoon(this.#running);
  }

  async #publish(client: Etcd3, established: () => void, signal: AbortSignal): Promise<void> {
    const ttl = this.#options.leaseTtlSeconds;
    const lease = await grantLease(client, ttl);
    try {
      for (const batch of this.#batches) await putBatch(client, batch, lease);
      this.#isPublished = true;
      established();
      this.#events.registry("published");
      const count = this.#batches.reduce((sum, batch) => sum + batch.length, 0);
      this.#options.logger?.info({ instance: this.instance, routes: count }, "routes published");
      while (!signal.aborted) {
        await sleep((ttl * 1000) / 3, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) await keepLeaseAlive(client, lease);
      }
    } finally {
      // The keys go with their lease; where etcd does not answer, it expires.
      if (signal.aborted) {
        await revokeLease(client, lease).catch(() => undefined);
      }
    }
  }

  #lost(error: unknown, wasEstablished: boolean): void {
    this.#events.registry(wasEstablished ? "lost" : "failed");
    const message = wasEstablished
      ? "the route registry was lost; publishing the routes again"
      : "the routes cannot be published; retrying";
    this.#options.logger?.warn({ reason: (error as Error).message }, message);
  }

  get #events(): RuntimeEvents {
    return this.#options.events ?? NO_EVENTS;
  }
}

/**
 * Publishes the routes of a process until it is closed. `createServer` does so by itself where its
 * configuration names a registry; this is for a process that serves by other means.
 *
 * @example
 * ```ts
 * const publisher = publishRoutes({
 *   etcd: { endpoints: ["http://127.0.0.1:2379"] },
 *   environment: "development",
 *   documents: [readRouteDocument("gen/routes/notes.json")],
 *   leaseTtlSeconds: 30,
 * });
 * process.once("SIGTERM", () => void publisher.close());
 * ```
 */
export function publishRoutes(options: RoutePublisherOptions): RoutePublisher {
  const publisher = new RoutePublisher(options);
  publisher.start();
  return publisher;
}

function entriesOf({ documents, environment }: RoutePublisherOptions, instance: string): Entry[] {
  return documents.flatMap(({ routes }) =>
    routes.map(({ key, entry }) => {
      return {
        key: Buffer.from(routeKey(environment, key, instance)),
        value: Buffer.from(JSON.stringify(entry)),
      };
    }),
  );
}

function batches(entries: readonly Entry[]): Entry[][] {
  const all: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.key.length + entry.value.length;
    let last = all.at(-1);
    if (last === undefined || last.length >= MAX_BATCH || bytes + size > MAX_BATCH_BYTES) {
      last = [];
      all.push(last);
      bytes = 0;
    }
    last.push(entry);
    bytes += size;
  }
  return all;
}

async function putBatch(client: Etcd3, batch: readonly Entry[], lease: string): Promise<void> {
  const success = batch.map(({ key, value }) => ({ request_put: { key, value, lease } }));
  await client.kv.txn({ compare: [], success, failure: [] }, etcdDeadline());
}

/** How etcd is reached, by its part of a configuration. */
export function etcdConnectionOf(etcd: EtcdConfig): EtcdConnection {
  const { endpoints, username, password } = etcd;
  const { ca_file: caFile, certificate_file: certificateFile, key_file: keyFile } = etcd;
  return { endpoints, username, password, caFile, certificateFile, keyFile };
}

/** What a publisher has that is not in the configuration. */
type RoutePublisherParts = Pick<RoutePublisherOptions, "instance" | "events" | "logger">;

/**
 * Publishes the routes of a service as its configuration says; undefined if it
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
