import type { Etcd3, IDuplexStream, IKeyValue, IWatchRequest, IWatchResponse } from "etcd3";
import type { Logger } from "../../common/logger.ts";
import { connectEtcd, type EtcdConnection, etcdDeadline } from "./etcd-client.ts";
import { keepSession, settledSoon } from "./etcd-session.ts";
import { parseRouteEntry } from "./route-entry.ts";
import { environmentPrefix, parseRouteKey } from "./route-keys.ts";
import { type RegisteredRoute, RouteTable } from "./route-table.ts";

/** What is watched, and who is notified. */
export interface RouteWatchOptions {
  /** How etcd is reached. */
  readonly etcd: EtcdConnection;
  /** The environment whose routes are watched. */
  readonly environment: string;
  /** Called with all routes, first when they are read, then after each change. */
  readonly onRoutes: (routes: readonly RegisteredRoute[]) => void;
  /** Called for entries that are skipped: invalid ones, or of an unknown version. */
  readonly onBadEntry?: (key: string, why: string) => void;
  /**
   * How long entries outlive a reading that does not show them: after an etcd that has
   * lost its data the publishers need a moment. In milliseconds; 30,000 if absent.
   */
  readonly graceMs?: number;
  /** Logs skipped entries, and when the registry is lost; absent, nothing is logged. */
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

  /** Begins at once; `watchRoutes` is the same. */
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

  /** All routes as they are known now, sorted by service and RPC; empty until they are first read. */
  get routes(): readonly RegisteredRoute[] {
    return this.#table.routes();
  }

  /** Ends the watch; no further notifications. */
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
          // Including compaction: missed changes are read again.
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
    this.#notify();
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
    if (isChanged) this.#notify();
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
      this.#options.logger?.warn({ key: place, why }, "an entry of the route registry is skipped");
      this.#options.onBadEntry?.(place, why);
      // The previous entry is no longer published.
      return this.#table.delete(place);
    }
  }

  #forgetMissingLater(): void {
    clearTimeout(this.#grace);
    if (!this.#table.hasMissing) return;
    this.#grace = setTimeout(() => {
      if (!this.#table.hasMissing) return;
      this.#table.deleteMissing();
      this.#notify();
    }, this.#options.graceMs ?? GRACE_MS);
    this.#grace.unref();
  }

  #notify(): void {
    if (!this.#isRead || this.#abort.signal.aborted) return;
    try {
      this.#options.onRoutes(this.#table.routes());
    } catch (error) {
      // A listener's mistake must not end the watch.
      this.#options.logger?.error({ error }, "a listener of the route registry has failed");
    }
  }
}

/**
 * Watches the routes of an environment until it is closed: the union over all instances
 * (docs/requirements.md, REG-2). While etcd is unavailable the routes stay as they are, and it
 * reconnects by itself.
 *
 * @example
 * ```ts
 * const watch = watchRoutes({
 *   etcd: { endpoints: ["http://127.0.0.1:2379"] },
 *   environment: "development",
 *   onRoutes(routes) {
 *     for (const { entry } of routes) console.log(entry.service, entry.rpc);
 *   },
 * });
 * ```
 */
export function watchRoutes(options: RouteWatchOptions): RouteWatch {
  return new RouteWatch(options);
}

/** The most keys in one answer. */
const PAGE = 2000;

/** All pairs whose keys begin with a prefix, as of one revision. */
export async function readPrefix(
  client: Etcd3,
  prefix: string,
): Promise<{ readonly revision: bigint; readonly pairs: readonly IKeyValue[] }> {
  const pairs: IKeyValue[] = [];
  // The first page is of the latest revision, and the others of the same.
  let revision = "0";
  let from = Buffer.from(prefix);
  for (;;) {
    const range = { key: from, range_end: prefixEnd(prefix), limit: PAGE, revision };
    const page = await client.kv.range(range, etcdDeadline());
    if (revision === "0") revision = page.header.revision;
    pairs.push(...page.kvs);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return { revision: BigInt(revision), pairs };
    from = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Asks a stream for all changes of a prefix from a revision on. */
function watchPrefix(
  stream: IDuplexStream<IWatchRequest, IWatchResponse>,
  prefix: string,
  revision: bigint,
): void {
  stream.write({
    create_request: {
      key: Buffer.from(prefix),
      range_end: prefixEnd(prefix),
      start_revision: String(revision),
    },
  });
}

/** The first key after all that begin with a prefix. */
function prefixEnd(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) as number) + 1;
  return end;
}
