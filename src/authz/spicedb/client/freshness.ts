import type { v1 } from "@authzed/authzed-node";
import { abortError } from "../../engine/abort-error.ts";
import type { CallOptions } from "../../engine/requests.ts";
import { zedTokenOf } from "./tokens.ts";

const MAX_OLDER = 1000;

/**
 * The state that a read must see at least, as SpiceDB gets it, and what to do with the state of its
 * response.
 */
export interface SpicedbReadAt {
  readonly consistency: v1.Consistency;
  /** The ZedToken of a state that the read sees at least. */
  readonly atLeast: string;
  /** Takes the ZedToken of the answer. */
  readonly seen: (zedToken: string | undefined) => void;
}

/**
 * The oldest state that this process may read: the last one that it wrote or was given (the
 * new-enemy problem: an old decision on newer content).
 *
 * ZedTokens have no order that we can see. So if it is unknown which of two is newer, the newest
 * state is requested, which is at least as fresh as both.
 */
export class Freshness {
  readonly #findNewest: () => Promise<string>;
  #known: string | undefined;
  /** Tokens that `#known` is at least as fresh as. */
  readonly #older = new Set<string>();
  /** Counts the events that make responses under way too old to be used. */
  #generation = 0;
  #finding: { readonly generation: number; readonly newest: Promise<string> } | undefined;

  /** @param findNewest a state that is not older than any that was acknowledged before it is called */
  constructor(findNewest: () => Promise<string>) {
    this.#findNewest = findNewest;
  }

  /** The consistency of a read that is as fresh as its caller asks. */
  async read({ atLeastAsFresh, newest = false, signal }: CallOptions = {}): Promise<SpicedbReadAt> {
    const given = atLeastAsFresh === undefined ? undefined : zedTokenOf(atLeastAsFresh);
    const covered = given === undefined || given === this.#known || this.#older.has(given);
    if (!covered || newest) this.#forget();
    const generation = this.#generation;
    const known = this.#known ?? (await unlessAborted(this.#newest(), signal));
    const isCurrent = () => generation === this.#generation && known === this.#known;
    if (given !== undefined && isCurrent()) this.#remember(given);
    const seen = (zedToken: string | undefined) => {
      // If another token was adopted in the meantime, the order of the two is unknown.
      if (zedToken !== undefined && isCurrent()) this.#know(zedToken);
    };
    return { consistency: atLeastAsFreshAs(known), atLeast: known, seen };
  }

  /**
   * Begins a write. Call the returned function with its ZedToken, or without one if its outcome is
   * unknown.
   */
  write(): (zedToken?: string) => void {
    const generation = this.#generation;
    return (zedToken) => {
      const alone = generation === this.#generation;
      this.#generation++;
      if (alone && zedToken !== undefined) this.#know(zedToken);
      else this.#forget();
    };
  }

  /** The newest state; concurrent callers share one request while no newer token is known. */
  #newest(): Promise<string> {
    const generation = this.#generation;
    if (this.#finding?.generation === generation) return this.#finding.newest;
    const newest = this.#findNewest().then(
      (zedToken) => {
        if (this.#finding?.generation === generation) this.#finding = undefined;
        if (generation === this.#generation) this.#know(zedToken);
        return zedToken;
      },
      (error: unknown) => {
        if (this.#finding?.generation === generation) this.#finding = undefined;
        throw error;
      },
    );
    this.#finding = { generation, newest };
    return newest;
  }

  /** No known token is fresh enough: the next read requests the newest state. */
  #forget(): void {
    if (this.#known !== undefined) this.#remember(this.#known);
    this.#known = undefined;
    this.#generation++;
  }

  #know(zedToken: string): void {
    if (this.#known !== undefined) this.#remember(this.#known);
    this.#known = zedToken;
  }

  #remember(zedToken: string): void {
    this.#older.add(zedToken);
    if (this.#older.size > MAX_OLDER) {
      const [oldest] = this.#older;
      this.#older.delete(oldest as string);
    }
  }
}

/** A shared request continues when one of its callers has cancelled. */
function unlessAborted<Result>(
  shared: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Sees exactly this state. */
export function atExactly(token: string): v1.Consistency {
  return { requirement: { oneofKind: "atExactSnapshot", atExactSnapshot: { token } } };
}

function atLeastAsFreshAs(token: string): v1.Consistency {
  return { requirement: { oneofKind: "atLeastAsFresh", atLeastAsFresh: { token } } };
}
