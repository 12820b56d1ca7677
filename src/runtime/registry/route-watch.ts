import type { Etcd3, IKeyValue, IWatchResponse } from "etcd3";
import type { Logger } from "../operation/logger.ts";
import { connectEtcd, type EtcdConnection } from "./etcd-client.ts";
import { keepSession, settledSoon } from "./etcd-session.ts";
import { readPrefix, watchPrefix } from "./read-prefix.ts";
import { parseRouteEntry } from "./route-entry.ts";
import { environmentPrefix, parseRouteKey } from "./route-keys.ts";
import { type RegisteredRoute, RouteTable } from "./route-table.ts";

/** What is watched, and who is told. */
export interface RouteWatchOptions {
  readonly etcd: EtcdConnection;
  readonly environment: string;
  /** Told all routes, first when they are read, then whenever they have changed. */
  readonly onRoutes: (routes: readonly RegisteredRoute[]) => void;
  /** Told of entries that are passed over: junk, or of a version that is not known. */
  readonly onBadEntry?: (key: string, why: string) => void;
  /**
   * How long entries outlive a reading that does not show them: after an etcd that has
   * lost its data the publishers need a moment.
   */
  readonly graceMs?: number;
  readonly logger?: Logger;
}

const GRACE_MS = 30_000;

/** Follows the routes of an environment, as gateways do. */
export class RouteWatch {
  readonly #options: RouteWatchOptions;
  readonly #prefix: string;
  readonly #table = new RouteTable();
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  #grace: NodeJS.Timeout | undefined;
  #isRead = false;

  constructor(options: RouteWatchOptions) {
    this.#options = options;
    this.#prefix = environmentPrefix(options.environment);
    this.#running = keepSession(
      {
        connect: () => connectEtcd(options.etcd),
        run: (client, established, signal) => this.#follow(client, established, signal),
        lost: (error) =>
          options.logger?.warn(
            { error },
            "the route registry was lost; the routes stay as they are",
          ),
      },
      this.#abort.signal,
    );
  }

  /** All routes as they are known now. */
  get routes(): readonly RegisteredRoute[] {
    return this.#table.routes();
  }

  /** Ends; nobody is told any more. */
  async close(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#grace);
    await settledSoon(this.#running);
  }

  async #follow(client: Etcd3, established: () => void, signal: AbortSignal): Promise<void> {
    const revision = await this.#readAll(client);
    const stream = await client.watchClient.watch();
    const over = new AbortController();
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => resolve(), { signal: over.signal });
        stream.on("error", reject);
        stream.on("end", () => reject(new Error("etcd has ended the watch")));
        stream.on("data", (answer) => {
          // Compaction among them: what was missed is read anew.
          if (answer.canceled)
            reject(new Error(`the watch was cancelled: ${answer.cancel_reason}`));
          else if (answer.created) established();
          else this.#take(answer);
        });
        watchPrefix(stream, this.#prefix, revision + 1n);
      });
    } finally {
      over.abort();
      stream.on("error", () => undefined);
      stream.cancel();
    }
  }

  /** Reads all entries as of one revision, and returns that. */
  async #readAll(client: Etcd3): Promise<bigint> {
    const { revision, pairs } = await readPrefix(client, this.#prefix);
    for (const pair of pairs) this.#put(pair);
    this.#table.keepOnly(new Set(pairs.map(({ key }) => key.toString())));
    this.#forgetMissingLater();
    this.#isRead = true;
    this.#tell();
    return revision;
  }

  #take({ events }: IWatchResponse): void {
    let isChanged = false;
    for (const { type, kv } of events) {
      // The type that etcd leaves out is a put.
      const changed =
        String(type).toLowerCase() === "delete"
          ? this.#table.delete(kv.key.toString())
          : this.#put(kv);
      isChanged ||= changed;
    }
    if (isChanged) this.#tell();
  }

  #put({ key, value }: IKeyValue): boolean {
    const place = key.toString();
    const named = parseRouteKey(this.#options.environment, place);
    try {
      const text = value.toString();
      const entry = parseRouteEntry(text);
      if (named === undefined || entry.service !== named.service || entry.rpc !== named.rpc) {
        throw new Error("the entry is of another route than its key");
      }
      return this.#table.put(place, { instance: named.instance, entry, text });
    } catch (error) {
      const why = (error as Error).message;
      this.#options.logger?.warn(
        { key: place, why },
        "an entry of the route registry is passed over",
      );
      this.#options.onBadEntry?.(place, why);
      // What it was before is not what is published now.
      return this.#table.delete(place);
    }
  }

  #forgetMissingLater(): void {
    clearTimeout(this.#grace);
    if (!this.#table.hasMissing) return;
    this.#grace = setTimeout(() => {
      if (!this.#table.hasMissing) return;
      this.#table.deleteMissing();
      this.#tell();
    }, this.#options.graceMs ?? GRACE_MS);
    this.#grace.unref();
  }

  #tell(): void {
    if (!this.#isRead || this.#abort.signal.aborted) return;
    try {
      this.#options.onRoutes(this.#table.routes());
    } catch (error) {
      // A listener's mistake must not end the watch.
      this.#options.logger?.error({ error }, "a listener of the route registry has failed");
    }
  }
}

/** Watches the routes of an environment until it is closed: the union over all instances. */
export function watchRoutes(options: RouteWatchOptions): RouteWatch {
  return new RouteWatch(options);
}
