import { AuthzError } from "../authz-error.ts";
import type { Page, PageRequest, Revision } from "../engine.ts";
import { pageSizeOf } from "../validate-request.ts";
import type { Steps } from "./paced.ts";
import { formatCursor, listingKey, parseCursor } from "./page-cursor.ts";

/** The most results of a listing, over all of its pages. */
export const MAX_RESULTS = 1_000_000;
const KEPT = 8;

/** The state that is listed. */
export interface ListedState {
  readonly storeId: string;
  readonly sequence: number;
  readonly revision: Revision;
}

/**
 * Pages of sorted listings. The last listings are kept, so that their further
 * pages cost no new evaluation; a page of one that was dropped evaluates anew,
 * with the same result, for its cursor pins the revision.
 */
export class Listings {
  readonly #kept = new Map<
    string,
    { readonly sequence: number; readonly all: readonly unknown[] }
  >();

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
    const size = pageSizeOf(request);
    const key = listingKey([state.storeId, ...listing]);
    const cursor = request.cursor === undefined ? undefined : parseCursor(key, request.cursor);
    if (cursor !== undefined && cursor.sequence !== state.sequence) {
      throw new AuthzError(
        "OUT_OF_RANGE",
        "relationships were written since the page before, and the state it listed is not kept; list again from the first page",
      );
    }
    const all = yield* this.#all(key, state.sequence, evaluate);
    const start = cursor === undefined ? 0 : firstBehind(all, cursor.after, keyOf);
    const items = all.slice(start, start + size);
    const last = items.at(-1);
    const { revision, sequence } = state;
    if (last === undefined || start + size >= all.length) {
      this.#kept.delete(key);
      return { items, revision };
    }
    this.#keep(key, sequence, all);
    return { items, revision, nextCursor: formatCursor(key, { sequence, after: keyOf(last) }) };
  }

  *#all<Item>(
    key: string,
    sequence: number,
    evaluate: () => Steps<readonly Item[]>,
  ): Steps<readonly Item[]> {
    const kept = this.#kept.get(key);
    if (kept?.sequence === sequence) return kept.all as readonly Item[];
    return yield* evaluate();
  }

  #keep(key: string, sequence: number, all: readonly unknown[]): void {
    this.#kept.delete(key);
    this.#kept.set(key, { sequence, all });
    for (const [old, { sequence: of }] of this.#kept) {
      if (of !== sequence || this.#kept.size > KEPT) this.#kept.delete(old);
    }
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
