import type { Revocation, RevocationFeed } from "svc-access/runtime";
import { DatabaseClock } from "./database-clock.ts";
import type { StoredRevocation } from "./revocation.ts";
import type { Revocations } from "./revocations.ts";

/** How long they count as all after they were read. */
const CURRENT_MS = 3000;
/** How often all of them are read again for a feed that is full. */
const RECOVER_EVERY_MS = 5000;
const BATCH = 1000;

/**
 * Publishes the stored revocations in this process: those of other replicas within a moment, its own
 * at once. A feed that is full gets all of them again, now and then, until it has room.
 *
 * @example
 * ```ts
 * const feed = new RevocationFeed({ isCurrent: () => follower.isCurrent });
 * const follower = new RevocationFollower(provider.revocations, feed);
 * await follower.look();
 * ```
 */
export class RevocationFollower {
  readonly #revocations: Revocations;
  readonly #feed: Pick<RevocationFeed, "publish" | "isFull" | "recover">;
  readonly #clock: DatabaseClock;
  readonly #now: () => number;
  #position = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();
  /** A look that has not begun: it sees all that was stored by now. */
  #next: Promise<void> | undefined;

  /**
   * @param clock gets the time of the database
   * @param now milliseconds on a monotonic clock
   */
  constructor(
    revocations: Revocations,
    feed: Pick<RevocationFeed, "publish" | "isFull" | "recover">,
    clock: DatabaseClock = new DatabaseClock(),
    now: () => number = () => performance.now(),
  ) {
    this.#revocations = revocations;
    this.#feed = feed;
    this.#clock = clock;
    this.#now = now;
  }

  /**
   * Whether all revocations of a moment ago are published, and the clock is right: by a wrong one, expired
   * tokens seem to be valid.
   */
  get isCurrent(): boolean {
    return this.#now() - this.#readAt < CURRENT_MS && this.#clock.problem === undefined;
  }

  /**
   * Reads and publishes what is new; calls wait for each other, and those that wait share one look.
   *
   * @throws RangeError if the feed has no room for all of them; Error if the clock is wrong
   */
  look(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const looked = this.#last.then(() => {
      this.#next = undefined;
      return this.#look();
    });
    this.#next = looked;
    this.#last = looked.catch(() => undefined);
    return looked;
  }

  async #look(): Promise<void> {
    if (this.#feed.isFull) return this.#recover();
    const time = this.#now();
    const head = await this.#revocations.head();
    this.#clock.observe(head.databaseTime);
    // It goes back if the database was restored from a backup.
    if (head.position < this.#position) this.#position = -1;
    for await (const [batch, position] of this.#batchesAfter(this.#position)) {
      for (const revocation of batch) this.#feed.publish(revocation);
      this.#position = position;
    }
    this.#readAt = time;
    if (this.#clock.problem !== undefined) throw new Error(this.#clock.problem);
  }

  async #recover(): Promise<void> {
    const time = this.#now();
    if (time - this.#triedAt < RECOVER_EVERY_MS) return;
    this.#triedAt = time;
    let last = -1;
    const batches = this.#batchesAfter(last);
    const all = (async function* () {
      for await (const [batch, position] of batches) {
        yield* batch;
        last = position;
      }
    })();
    if (!(await this.#feed.recover(all))) throw new RangeError("the feed of revocations is full");
    this.#position = last;
    this.#readAt = time;
  }

  /** The stored revocations after a position, in batches with the position of their last one. */
  async *#batchesAfter(start: number): AsyncGenerator<readonly [readonly Revocation[], number]> {
    for (let before = start; ; ) {
      const { revocations, position } = await this.#revocations.after(before, BATCH);
      if (position === before) return;
      yield [revocations.map(publishedOf), position];
      before = position;
    }
  }
}

function publishedOf({
  kind,
  value,
  keepUntil,
  subjectType,
  issuedUntil = 0,
}: StoredRevocation): Revocation {
  if (kind === "sid") return { sessionId: value, keepUntil };
  if (kind === "jti") return { tokenId: value, keepUntil };
  const type = subjectType === "service_account" ? "service_account" : "user";
  return { subject: { type, id: value, issuedUntil }, keepUntil };
}
