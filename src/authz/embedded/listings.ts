import { AuthzError } from "../authz-error.ts";
import type { Page, PageRequest, Revision } from "../engine.ts";
import { pageSizeOf } from "../validate-request.ts";
import type { Steps } from "./paced.ts";
import { formatCursor, listingKey, parseCursor } from "./page-cursor.ts";

/** The most results of a listing, over all of its pages. */
export const MAX_RESULTS = 1_000_000;
const MAX_KEPT = 8;
/** The most items of all kept listings together. A longer one is kept alone: its pages are many. */
const MAX_KEPT_ITEMS = 200_000;

/** The state that is listed. */
export interface ListedState {
  readonly storeId: string;
  readonly sequence: number;
  readonly revision: Revision;
}

/**
 * Pages of sorted listings. The last listings of the present state are kept, so that their further
 * pages cost no new evaluation; a page of one that was dropped evaluates anew,
 * with the same result, for its cursor pins the revision.
 */
export class Listings {
  readonly #kept = new Map<string, readonly unknown[]>();
  #items = 0;
  /** Of which state they are. */
  #sequence = -1;

  /**
   * @param listing what is asked for, without the page
   * @param evaluate all results, sorted by `keyOf`, each key once
   * @throws AuthzError OUT_OF_RANGE where there were writes since the page before
   */
  *page<Item>(
    listing: readonly unknown[],
    request: PageRequest,
    state: ListedState,
    evaluate: () => Steps<readonly Item[]>,
    keyOf: (item: Item) => string,
  ): Steps<Page<Item>> {
    this.#moveTo(state.sequence);
    const size = pageSizeOf(request);
    const key = listingKey([state.storeId, ...listing]);
    const cursor = request.cursor === undefined ? undefined : parseCursor(key, request.cursor);
    if (cursor !== undefined && cursor.sequence !== state.sequence) {
      throw new AuthzError(
        "OUT_OF_RANGE",
        "relationships were written since the page before, and the state it listed is not kept; list again from the first page",
      );
    }
    // The request says what its items are.
    const all = (this.#kept.get(key) as readonly Item[] | undefined) ?? (yield* evaluate());
    const start = cursor === undefined ? 0 : firstBehind(all, cursor.after, keyOf);
    const items = all.slice(start, start + size);
    const last = items.at(-1);
    const { revision, sequence } = state;
    if (last === undefined || start + size >= all.length) {
      this.#remove(key);
      return { items, revision };
    }
    this.#moveTo(sequence);
    this.#keep(key, all);
    return { items, revision, nextCursor: formatCursor(key, { sequence, after: keyOf(last) }) };
  }

  /** What is of another state nobody can ask for any more. */
  #moveTo(sequence: number): void {
    if (sequence === this.#sequence) return;
    this.#sequence = sequence;
    this.#kept.clear();
    this.#items = 0;
  }

  #keep(key: string, all: readonly unknown[]): void {
    this.#remove(key);
    this.#kept.set(key, all);
    this.#items += all.length;
    for (const oldest of this.#kept.keys()) {
      const isBounded = this.#kept.size <= MAX_KEPT && this.#items <= MAX_KEPT_ITEMS;
      if (isBounded || oldest === key) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#items -= this.#kept.get(key)?.length ?? 0;
    this.#kept.delete(key);
  }
}

/** The refusal of a listing that is too long to hold. */
export function tooManyResults(most: number): AuthzError {
  return new AuthzError("RESOURCE_EXHAUSTED", `there are more than ${most} results; ask for less`);
}

/** The index of the first item whose key is greater. */
function firstBehind<Item>(
  all: readonly Item[],
  after: string,
  keyOf: (item: Item) => string,
): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyOf(all[middle] as Item) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
