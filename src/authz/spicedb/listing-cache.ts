const MAX_LISTINGS = 8;

/**
 * The last lookups that have more pages. SpiceDB pages its lookups in no order that we could
 * sort by, so without these each page would make it look everything up again. A listing is of
 * one state, and never old.
 */
export class ListingCache {
  readonly #listings = new Map<string, readonly unknown[]>();

  /** The listing of a request at a state, where it is still kept. */
  get<Item>(request: readonly unknown[], zedToken: string): readonly Item[] | undefined {
    // The request says what its items are.
    return this.#listings.get(keyOf(request, zedToken)) as readonly Item[] | undefined;
  }

  set(request: readonly unknown[], zedToken: string, items: readonly unknown[]): void {
    const key = keyOf(request, zedToken);
    this.#listings.delete(key);
    this.#listings.set(key, items);
    if (this.#listings.size <= MAX_LISTINGS) return;
    const [oldest] = this.#listings.keys();
    this.#listings.delete(oldest as string);
  }
}

function keyOf(request: readonly unknown[], zedToken: string): string {
  return JSON.stringify([request, zedToken]);
}
