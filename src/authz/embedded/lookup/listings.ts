import { createHash } from "node:crypto";
import { AuthzError } from "../../engine/authz-error.ts";
import type { Page, PageRequest, Revision } from "../../engine/requests.ts";
import { pageSizeOf } from "../../engine/validate-request.ts";
import type { Steps } from "../graph/turns.ts";

/** The most results of a listing, over all of its pages. */
export const MAX_RESULTS = 1_000_000;
const MAX_KEPT = 8;
/**
 * The most items of all kept listings together. A longer one is kept alone, since it has many
 * pages.
 */
const MAX_KEPT_ITEMS = 200_000;

/** Sorted results; an array is one. */
export interface Listing<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
}

/** The state that is listed. */
export interface ListedState {
  readonly storeId: string;
  readonly sequence: number;
  readonly revision: Revision;
}

/**
 * Pages of sorted listings. The last listings of the current state are cached, so that their
 * further pages need no new evaluation. A page of a dropped listing evaluates it again, with the
 * same result, since its cursor pins the revision.
 */
export class Listings {
  readonly #kept = new Map<string, Listing<unknown>>();
  #items = 0;
  /** The state that they are of. */
  #sequence = -1;

  /**
   * @param listing the request without the page
   * @param evaluate all results, sorted by `keyOf`, each key once
   * @throws AuthzError OUT_OF_RANGE if there were writes since the previous page
   */
  *page<Item>(
    listing: readonly unknown[],
    request: PageRequest,
    state: ListedState,
    evaluate: () => Steps<Listing<Item>>,
    keyOf: (item: Item) => string,
  ): Steps<Page<Item>> {
    this.#moveTo(state.sequence);
    const size = pageSizeOf(request);
    // Only listings of several pages need it, and it takes longer than a short listing.
    let known: string | undefined;
    const key = () => (known ??= listingKey([state.storeId, ...listing]));
    const cursor = request.cursor === undefined ? undefined : parseCursor(key(), request.cursor);
    if (cursor !== undefined && cursor.sequence !== state.sequence) {
      throw new AuthzError(
        "OUT_OF_RANGE",
        "relationships were written after the previous page, and its state is no longer available; list again from the first page",
      );
    }
    const kept = this.#kept.size === 0 ? undefined : this.#kept.get(key());
    // The request determines the type of the items.
    const all = (kept as Listing<Item> | undefined) ?? (yield* evaluate());
    const start = cursor === undefined ? 0 : firstBehind(all, cursor.after, keyOf);
    const end = Math.min(start + size, all.length);
    const items: Item[] = [];
    for (let index = start; index < end; index++) items.push(all.at(index) as Item);
    const last = items.at(-1);
    const { revision, sequence } = state;
    // If it is kept, it remains so after its last page, which a caller may read again.
    if (last === undefined || end === all.length) return { items, revision };
    this.#moveTo(sequence);
    this.#keep(key(), all);
    return { items, revision, nextCursor: formatCursor(key(), { sequence, after: keyOf(last) }) };
  }

  /** Listings of another state can no longer be requested. */
  #moveTo(sequence: number): void {
    if (sequence === this.#sequence) return;
    this.#sequence = sequence;
    this.#kept.clear();
    this.#items = 0;
  }

  #keep(key: string, all: Listing<unknown>): void {
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

/** The refusal of a listing that is too long. */
export function tooManyResults(most: number): AuthzError {
  return new AuthzError("RESOURCE_EXHAUSTED", `there are more than ${most} results; request fewer`);
}

/** The index of the first item whose key is greater. */
function firstBehind<Item>(
  all: Listing<Item>,
  after: string,
  keyOf: (item: Item) => string,
): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyOf(all.at(middle) as Item) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

const VERSION = "1:embedded-cursor";

/** Where the next page of a listing begins. */
export interface PageCursor {
  /** The number of the last write of the state that is listed. */
  readonly sequence: number;
  /** The last item of the previous page. */
  readonly after: string;
}

/** A hash of the request and the store. */
function listingKey(listing: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(listing)).digest("base64url").slice(0, 22);
}

/** A cursor as the caller holds it; it is valid for the same listing only. */
export function formatCursor(listing: string, { sequence, after }: PageCursor): string {
  return Buffer.from(JSON.stringify([VERSION, listing, sequence, after])).toString("base64url");
}

/** @throws AuthzError INVALID_ARGUMENT if it is malformed or of another listing */
export function parseCursor(listing: string, cursor: string): PageCursor {
  const [version, of, sequence, after] = parseParts(cursor);
  const isOurs =
    version === VERSION &&
    typeof of === "string" &&
    Number.isSafeInteger(sequence) &&
    (sequence as number) >= 0 &&
    typeof after === "string";
  // Formatted again, because the decoder ignores characters that are not base64url.
  if (!isOurs || formatCursor(of, { sequence: sequence as number, after }) !== cursor) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor is malformed");
  }
  if (of !== listing) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor belongs to another request");
  }
  return { sequence: sequence as number, after };
}

function parseParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
