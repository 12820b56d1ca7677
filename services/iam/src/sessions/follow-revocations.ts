import type { Revocation } from "svc-access/runtime";
import type { StoredRevocation } from "./revocation.ts";
import type { Revocations } from "./revocations.ts";

/** How long they count as all after they were read. */
const CURRENT_MS = 3000;
const BATCH = 1000;

/**
 * Publishes the stored revocations in this process: those of other replicas within a moment, its own
 * at once.
 *
 * @example
 * ```ts
 * const follower = new RevocationFollower(provider.revocations, (one) => feed.publish(one));
 * await follower.look();
 * const isCurrent = () => follower.isCurrent;
 * ```
 */
export class RevocationFollower {
  readonly #revocations: Revocations;
  readonly #publish: (revocation: Revocation) => void;
  #position = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();

  constructor(revocations: Revocations, publish: (revocation: Revocation) => void) {
    this.#revocations = revocations;
    this.#publish = publish;
  }

  /** Whether all revocations of a moment ago are published. */
  get isCurrent(): boolean {
    return performance.now() - this.#readAt < CURRENT_MS;
  }

  /** Reads and publishes what is new; calls wait for each other. */
  look(): Promise<void> {
    const looked = this.#last.then(() => this.#look());
    this.#last = looked.catch(() => undefined);
    return looked;
  }

  async #look(): Promise<void> {
    const time = performance.now();
    // It goes back if the database was restored from a backup.
    if ((await this.#revocations.head()) < this.#position) this.#position = -1;
    for (;;) {
      const { revocations, position } = await this.#revocations.after(this.#position, BATCH);
      for (const revocation of revocations) this.#publish(publishedOf(revocation));
      if (position === this.#position) break;
      this.#position = position;
    }
    this.#readAt = time;
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
