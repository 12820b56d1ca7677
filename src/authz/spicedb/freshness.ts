import { v1 } from "@authzed/authzed-node";
import type { Revision } from "../engine.ts";
import { zedTokenOf } from "./revision.ts";

const MAX_OLDER = 1000;

/** The state that a read must see at least, as SpiceDB is told it, and what its answer is good for. */
export interface ReadAt {
  readonly consistency: v1.Consistency;
  /** Takes the ZedToken of the answer. */
  readonly seen: (zedToken: string | undefined) => void;
}

/**
 * What this process must not read behind: the last state that it wrote or was given (the
 * new-enemy problem: an old decision on newer content).
 *
 * ZedTokens have no order that we can see. So wherever it is unknown which of two is newer, the
 * next read is fully consistent, and the state that it saw is at least as fresh as both.
 */
export class Freshness {
  #known: string | undefined;
  /** Tokens that `#known` is at least as fresh as. */
  readonly #older = new Set<string>();
  /** Counts what makes the answers under way too old to be adopted. */
  #generation = 0;

  /** The consistency of a read, at least as fresh as a revision that the caller gives, if any. */
  read(atLeastAsFresh: Revision | undefined): ReadAt {
    const given = atLeastAsFresh === undefined ? undefined : zedTokenOf(atLeastAsFresh);
    const covered = given === undefined || given === this.#known || this.#older.has(given);
    if (!covered) this.#forget();
    const [known, generation] = [this.#known, this.#generation];
    const consistency = known === undefined ? fullyConsistent() : atLeastAsFreshAs(known);
    const seen = (zedToken: string | undefined) => {
      // Where something else was learnt in the meantime, the two have no known order.
      if (zedToken === undefined || generation !== this.#generation || known !== this.#known)
        return;
      this.#know(zedToken);
      if (given !== undefined) this.#remember(given);
    };
    return { consistency, seen };
  }

  /** A write begins. Call what is returned with its ZedToken, or without where its fate is unknown. */
  write(): (zedToken?: string) => void {
    const generation = this.#generation;
    return (zedToken) => {
      const alone = generation === this.#generation;
      this.#generation++;
      if (alone && zedToken !== undefined) this.#know(zedToken);
      else this.#forget();
    };
  }

  /**
   * Nothing known is fresh enough. The next read is fully consistent, and so at least as fresh as
   * all that was known.
   */
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

/** Sees every write that was acknowledged before, at a price. */
export function fullyConsistent(): v1.Consistency {
  return { requirement: { oneofKind: "fullyConsistent", fullyConsistent: true } };
}

/** Sees exactly this state. */
export function atExactly(token: string): v1.Consistency {
  return { requirement: { oneofKind: "atExactSnapshot", atExactSnapshot: { token } } };
}

function atLeastAsFreshAs(token: string): v1.Consistency {
  return { requirement: { oneofKind: "atLeastAsFresh", atLeastAsFresh: { token } } };
}
