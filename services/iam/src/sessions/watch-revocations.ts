import { setTimeout as sleep } from "node:timers/promises";
import type { StoredRevocation } from "./revocation.ts";
import type { Revocations } from "./revocations.ts";

/** A part of the stream of revocations. */
export interface RevocationNews {
  /** Where a later stream goes on; empty within a snapshot that is not complete. */
  readonly position: string;
  /** Whether a snapshot begins. */
  readonly snapshotBegin: boolean;
  readonly revocations: readonly StoredRevocation[];
  /** Whether all revocations up to `time` were sent. */
  readonly current: boolean;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** How often the revocations of other replicas are looked for. */
const LOOK_MS = 200;
/** How long the stream is silent at most. */
const SILENT_MS = 1000;
const BATCH = 1000;

/** The last position, and when it was read. */
interface Head {
  readonly position: number;
  readonly time: number;
}

/** Streams revocations to services; all streams of a process share their look at the database. */
export class RevocationWatch {
  readonly #revocations: Revocations;
  readonly #now: () => number;
  #next: Promise<Head> | undefined;

  /** @param now milliseconds since the epoch */
  constructor(revocations: Revocations, now: () => number = Date.now) {
    this.#revocations = revocations;
    this.#now = now;
  }

  /**
   * The revocations after a position, or all that count, and then each new one.
   *
   * @throws what the database throws: a stream that says nothing more must end
   */
  async *watch(position: string, signal: AbortSignal): AsyncGenerator<RevocationNews> {
    const known = position === "" ? undefined : await this.#revocations.positionOf(position);
    let at = known;
    let spoke = 0;
    let token = position;
    while (!signal.aborted) {
      const head = at === undefined ? await this.#look() : await this.#head();
      // It goes back if the database was restored from a backup.
      const isSnapshot = at === undefined || head.position < at;
      if (isSnapshot || head.position > (at ?? 0) || spoke === 0) {
        for await (const news of this.#send(isSnapshot ? undefined : at, head)) {
          if (news.position !== "") token = news.position;
          yield news;
        }
        at = head.position;
        spoke = this.#now();
      } else if (head.time - spoke >= SILENT_MS - LOOK_MS) {
        yield news(token, [], head.time, { current: true });
        spoke = head.time;
      }
    }
  }

  /** What is between a position and the head; without one, all. */
  async *#send(after: number | undefined, head: Head): AsyncGenerator<RevocationNews> {
    let from = after ?? -1;
    const isSnapshot = after === undefined;
    for (let isFirst = true; ; isFirst = false) {
      const { revocations, position } = await this.#revocations.after(from, BATCH);
      const isLast = position >= head.position || position === from;
      from = position;
      const token = isLast
        ? await this.#revocations.tokenOf(head.position)
        : isSnapshot
          ? ""
          : await this.#revocations.tokenOf(position);
      yield news(token, revocations, head.time, {
        snapshotBegin: isSnapshot && isFirst,
        current: isLast,
      });
      if (isLast) return;
    }
  }

  /** The head, read again after a while, or as soon as this process has stored a revocation. */
  #head(): Promise<Head> {
    this.#next ??= this.#wait().finally(() => {
      this.#next = undefined;
    });
    return this.#next;
  }

  async #wait(): Promise<Head> {
    const poked = new AbortController();
    const end = this.#revocations.onNew(() => poked.abort());
    await sleep(LOOK_MS, undefined, { signal: poked.signal }).catch(() => undefined);
    end();
    return this.#look();
  }

  async #look(): Promise<Head> {
    const time = this.#now();
    return { position: await this.#revocations.head(), time };
  }
}

function news(
  position: string,
  revocations: readonly StoredRevocation[],
  time: number,
  { snapshotBegin = false, current = false },
): RevocationNews {
  return { position, snapshotBegin, revocations, current, time };
}
