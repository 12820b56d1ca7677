import type { ProcessLogger } from "svc-access/runtime";

const PAUSE_MS = 60_000;

/** The ids of the encryption keys of all replicas. */
export interface StoredKeyIds {
  /** Stores those of this replica. */
  add(ids: readonly string[]): Promise<void>;
  /** Reads a bounded number of them, the newest first. */
  read(): Promise<readonly string[]>;
}

/** What learns which encryption keys there are, and which are missing. */
export interface MissingKeys {
  /** Names the keys that this replica has, before it seals anything. */
  has(ids: readonly string[]): void;
  /** A value from outside names a key that is missing here. */
  add(id: string): void;
}

/**
 * Says which encryption keys are missing here: each at most once a minute, since values from outside name them. Anybody
 * can make up the id of a key, so only those that a replica has had are logged, and only these are remembered.
 */
export class MissingKeyLog implements MissingKeys {
  readonly #log: Pick<ProcessLogger, "error">;
  readonly #stored: StoredKeyIds;
  readonly #now: () => number;
  /** Those of this replica. */
  readonly #own = new Set<string>();
  /** Those that were stored when this replica read them last. */
  #known: ReadonlySet<string> = new Set();
  /** When each was logged. */
  readonly #logged = new Map<string, number>();
  #reading: "no" | "once" | "again" = "no";

  /** @param now milliseconds of a clock that is never set back */
  constructor(
    log: Pick<ProcessLogger, "error">,
    stored: StoredKeyIds,
    now: () => number = () => performance.now(),
  ) {
    this.#log = log;
    this.#stored = stored;
    this.#now = now;
  }

  /** Names the keys that this replica has, before `open`. */
  has(ids: readonly string[]): void {
    for (const id of ids) this.#own.add(id);
  }

  /**
   * Tells the other replicas which keys this one has, before it seals anything.
   *
   * @throws DatabaseError
   */
  async open(): Promise<void> {
    await this.#stored.add([...this.#own]);
    this.#known = new Set(await this.#stored.read());
  }

  /** Logs a missing key that a value names, if there is such a key. */
  add(id: string): void {
    if (this.#known.has(id)) this.#write(id);
    else if (this.#reading === "no") void this.#readNew();
    else this.#reading = "again";
  }

  /**
   * Reads what was stored since, one read at a time. What is new is missing here and in use, so it is logged whether the
   * value that was the reason names it or not: what named it need not be kept.
   */
  async #readNew(): Promise<void> {
    do {
      this.#reading = "once";
      try {
        const former = this.#known;
        this.#known = new Set(await this.#stored.read());
        for (const id of this.#known) if (!former.has(id) && !this.#own.has(id)) this.#write(id);
      } catch {
        // The outage of the database is reported, and the next value that names the key reads again.
      }
    } while ((this.#reading as string) === "again");
    this.#reading = "no";
  }

  #write(id: string): void {
    const now = this.#now();
    for (const [one, time] of this.#logged) if (time <= now - PAUSE_MS) this.#logged.delete(one);
    if (this.#logged.has(id)) return;
    this.#logged.set(id, now);
    this.#log.error(
      { key: id },
      "an encryption key that a replica has, or had, is missing in iam.encryption_key_file: what it sealed, such as a form that a caller sends back, cannot be read here; expected until all replicas have a new key, and for a while after an old one was removed",
    );
  }
}
