import type { AuditRecord } from "svc-access/runtime";
import { addressKey } from "./throttle-keys.ts";

/** How many failures with one event name are events of their own. */
export interface AttemptLimits {
  /** With the same details, from one address in a minute. */
  readonly perAddress: number;
  /** Of all in a minute: of those that name a user, and of the others. */
  readonly all: number;
}

/** A failure as it is counted. */
export interface CountedAttempt {
  /** As the event of the minute has it, without the user. */
  readonly record: AuditRecord;
  /** The object that names the user, if it is known. */
  readonly user: string | undefined;
  readonly address: string;
}

/** The failures of a minute that had no event of their own. */
interface Repeats {
  readonly record: AuditRecord;
  count: number;
}

/**
 * How many failures with one event name are recorded in a minute. Each name has a budget of its own, so that a flood of
 * one does not hide another.
 */
export class AttemptBudget {
  readonly #limits: AttemptLimits;
  /** By address, user and details; each has had an event, so there are at most twice `all`. */
  readonly #recorded = new Map<string, number>();
  /** By user and details, as long as there are at most `all`; then by details, and at last without them. */
  readonly #repeats = new Map<string, Repeats>();
  /** Apart, so that a flood of strangers does not hide what happens to a user. */
  readonly #events = { named: 0, nameless: 0 };

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
  }

  /** Counts a failure. @returns whether it is an event of its own */
  take({ record, user, address }: CountedAttempt): boolean {
    const { perAddress, all } = this.#limits;
    const kind = JSON.stringify([record.details]);
    const ofUser = user === undefined ? kind : JSON.stringify([record.details, user]);
    const key = addressKey(ofUser, address);
    const count = this.#recorded.get(key) ?? 0;
    const budget = user === undefined ? "nameless" : "named";
    if (count < perAddress && this.#events[budget] < all) {
      this.#recorded.set(key, count + 1);
      this.#events[budget]++;
      return true;
    }
    const named = user === undefined ? record : { ...record, resource: user };
    const repeats =
      this.#repeatsOf(ofUser, named, all) ??
      this.#repeatsOf(kind, record, 2 * all) ??
      this.#repeatsOf("", { ...record, details: {} }, 2 * all + 1);
    if (repeats !== undefined) repeats.count++;
    return false;
  }

  /** @returns undefined if there is no room for it, among so many */
  #repeatsOf(key: string, record: AuditRecord, most: number): Repeats | undefined {
    const known = this.#repeats.get(key);
    if (known !== undefined || this.#repeats.size >= most) return known;
    const repeats = { record, count: 0 };
    this.#repeats.set(key, repeats);
    return repeats;
  }

  /** The events of the minute, with the number of failures that each stands for. */
  repeated(): readonly AuditRecord[] {
    return [...this.#repeats.values()].map(({ record, count }) => ({
      ...record,
      details: { ...record.details, repeats: count },
    }));
  }
}
