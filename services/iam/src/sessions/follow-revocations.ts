import { setTimeout as sleep } from "node:timers/promises";
import type { StoredRevocation } from "./revocation.ts";
import type { Revocations } from "./revocations.ts";

/** A revocation, as the feed of the runtime takes it. */
export type PublishedRevocation = { readonly keepUntil: number } & (
  | { readonly sessionId: string }
  | { readonly tokenId: string }
  | {
      readonly subject: {
        readonly type: "user" | "service_account";
        readonly id: string;
        readonly issuedUntil: number;
      };
    }
);

/** How often the revocations of other replicas are looked for. */
const LOOK_MS = 200;
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
  readonly #publish: (revocation: PublishedRevocation) => void;
  #position = -1;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(revocations: Revocations, publish: (revocation: PublishedRevocation) => void) {
    this.#revocations = revocations;
    this.#publish = publish;
  }

  /** Whether all revocations of a moment ago are published. */
  get isCurrent(): boolean {
    return performance.now() - this.#readAt < CURRENT_MS;
  }

  /** Reads and publishes what is new. */
  async look(): Promise<void> {
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

  /** Looks again and again until the signal aborts. @param failed called where the database fails */
  async run(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      const poked = new AbortController();
      const end = this.#revocations.onNew(() => poked.abort());
      await this.look().catch(failed);
      const either = AbortSignal.any([signal, poked.signal]);
      await sleep(LOOK_MS, undefined, { signal: either }).catch(() => undefined);
      end();
    }
  }
}

function publishedOf({
  kind,
  value,
  keepUntil,
  subjectType,
  issuedUntil = 0,
}: StoredRevocation): PublishedRevocation {
  if (kind === "sid") return { sessionId: value, keepUntil };
  if (kind === "jti") return { tokenId: value, keepUntil };
  const type = subjectType === "service_account" ? "service_account" : "user";
  return { subject: { type, id: value, issuedUntil }, keepUntil };
}
