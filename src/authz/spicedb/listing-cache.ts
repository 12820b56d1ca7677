const MAX_LISTINGS = 8;
/** The most items of all listings together. */
const MAX_ITEMS = 200_000;

/**
 * The last lookups that have more pages. SpiceDB pages its lookups in no order that we could
 * sort by, so without these each page would make it look everything up again. A listing is of
 * one state, and never old.
 */
export class ListingCache {
  readonly #listings = new Map<string, readonly unknown[]>();
  #items = 0;

  /** The listing of a request at a state, where it is still kept. */
  get<Item>(request: readonly unknown[], zedToken: string): readonly Item[] | undefined {
    // The request says what its items are.
    return this.#listings.get(keyOf(request, zedToken)) as readonly Item[] | undefined;
  }

  set(request: readonly unknown[], zedToken: string, items: readonly unknown[]): void {
    const key = keyOf(request, zedToken);
    this.#remove(key);
    this.#listings.set(key, items);
    this.#items += items.length;
    for (const oldest of this.#listings.keys()) {
      if (this.#listings.size <= MAX_LISTINGS && this.#items <= MAX_ITEMS) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#items -= this.#listings.get(key)?.length ?? 0;
    this.#listings.delete(key);
  }
}

function keyOf(request: readonly unknown[], zedToken: string): string {
  return JSON.stringify([request, zedToken]);
}
