import type { AuthorizationEngine, Change, RelationshipUpdate } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";

/** What one write changed, or nothing new. */
export interface WatchNews {
  /** Where to continue. Empty without updates, unless there were changes that are not shown. */
  readonly revision: string;
  readonly updates: readonly RelationshipUpdate[];
}

/** What is watched, and by whom. */
export interface WatchRequest {
  /** The changes after it; after this moment if absent. */
  readonly from: string | undefined;
  /** The service that watches. */
  readonly service: string;
  /** Which types of resources it may read. */
  readonly mayRead: (type: string) => boolean;
  readonly signal: AbortSignal;
}

/** How often a watch says that there is no news: watchers give up one that is silent. */
const HEARTBEAT_MS = 2000;
/** How many watches one service may have at a time. */
const MOST_OF_A_SERVICE = 100;
const NOTHING: WatchNews = { revision: "", updates: [] };

/** The watches of this process. */
export class RelationshipWatches {
  readonly #engine: Pick<AuthorizationEngine, "watch">;
  readonly #heartbeatMs: number;
  readonly #count = new Map<string, number>();
  readonly #end = new AbortController();

  constructor(engine: Pick<AuthorizationEngine, "watch">, heartbeatMs = HEARTBEAT_MS) {
    this.#engine = engine;
    this.#heartbeatMs = heartbeatMs;
  }

  /**
   * The changes after a revision, as they happen; at the beginning, and without changes for a while,
   * news without updates. After changes of types that the service may not read, these have the revision to continue
   * from: an older one would be forgotten at some time.
   *
   * @throws ServiceError UNAVAILABLE when the service stops, RATE_LIMITED for too many watches of a
   * service; AuthzError as the engine's watch does
   */
  async *watch({ from, service, mayRead, signal }: WatchRequest): AsyncGenerator<WatchNews> {
    const count = this.#count.get(service) ?? 0;
    if (count >= MOST_OF_A_SERVICE) {
      throw new ServiceError(
        "RATE_LIMITED",
        `the service ${service} has ${count} watches, which is the most that a service may have`,
      );
    }
    this.#count.set(service, count + 1);
    const left = new AbortController();
    const stop = AbortSignal.any([signal, this.#end.signal, left.signal]);
    const changes = new Follower(this.#engine.watch(from, { signal: stop }));
    let silence = NOTHING;
    try {
      yield silence;
      let beat = performance.now() + this.#heartbeatMs;
      for (;;) {
        const news = await changes.next(beat - performance.now());
        if (news === "none") {
          yield silence;
          silence = NOTHING;
          beat = performance.now() + this.#heartbeatMs;
          continue;
        }
        if (news === "end") throw stopping();
        const updates = news.updates.filter(({ relationship }) =>
          mayRead(relationship.resource.type),
        );
        if (updates.length === 0) {
          silence = { revision: news.revision, updates };
          continue;
        }
        yield { revision: news.revision, updates };
        silence = NOTHING;
        beat = performance.now() + this.#heartbeatMs;
      }
    } catch (error) {
      throw this.#end.signal.aborted ? stopping() : error;
    } finally {
      left.abort();
      this.#leave(service);
    }
  }

  /** Ends all watches: their services go to another replica, or come back. */
  close(): void {
    this.#end.abort();
  }

  #leave(service: string): void {
    const count = (this.#count.get(service) ?? 1) - 1;
    if (count > 0) this.#count.set(service, count);
    else this.#count.delete(service);
  }
}

/** The next change, the end, or why there is none. */
interface Arrival {
  readonly result?: IteratorResult<Change>;
  readonly error?: unknown;
}

/** Reads changes with a limit on the wait for each. The signal of the watch ends it. */
class Follower {
  readonly #changes: AsyncIterator<Change>;
  #arrived: Arrival | undefined;
  #isAsked = false;
  #wake: () => void = () => undefined;

  constructor(changes: AsyncIterable<Change>) {
    this.#changes = changes[Symbol.asyncIterator]();
    this.#ask();
  }

  /** The next change; `none` where it does not come in time, also if others come all the time. */
  async next(limitMs: number): Promise<Change | "none" | "end"> {
    if (limitMs <= 0) return "none";
    this.#ask();
    if (this.#arrived === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const arrived = this.#arrived;
    if (arrived === undefined) return "none";
    this.#arrived = undefined;
    const { result } = arrived;
    if (result === undefined) throw arrived.error;
    return result.done === true ? "end" : result.value;
  }

  #ask(): void {
    if (this.#isAsked || this.#arrived !== undefined) return;
    this.#isAsked = true;
    const arrive = (arrived: Arrival): void => {
      this.#isAsked = false;
      this.#arrived = arrived;
      this.#wake();
    };
    this.#changes.next().then(
      (result) => arrive({ result }),
      (error: unknown) => arrive({ error }),
    );
  }
}

function stopping(): ServiceError {
  return new ServiceError("UNAVAILABLE", "this replica of IAM is stopping: watch again");
}
