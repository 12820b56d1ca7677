import type { RouteEntry } from "../../api/format.ts";

/** A route and the instances that publish it so. While a service is rolled out, an RPC may have several. */
export interface RegisteredRoute {
  /** The RPC, and how it is reached and guarded. */
  readonly entry: RouteEntry;
  /** The names of the processes that publish this entry, sorted. */
  readonly instances: readonly string[];
}

/** One entry of the registry. */
export interface PublishedEntry {
  readonly instance: string;
  readonly entry: RouteEntry;
  /** The entry as it was published, by which equal ones are found. */
  readonly text: string;
}

/** The union of what instances publish, kept up to date key by key. */
export class RouteTable {
  readonly #entries = new Map<string, PublishedEntry>();
  /** Keys that a reading of all did not show, until they are considered removed. */
  readonly #missing = new Set<string>();

  /** @returns whether the union may have changed */
  put(key: string, published: PublishedEntry): boolean {
    this.#missing.delete(key);
    const before = this.#entries.get(key);
    this.#entries.set(key, published);
    return before?.text !== published.text;
  }

  /** @returns whether there was such an entry */
  delete(key: string): boolean {
    this.#missing.delete(key);
    return this.#entries.delete(key);
  }

  /** Notes which entries are not among those that are there now. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#missing.add(key);
  }

  /** Whether some entries are considered removed. */
  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  /** Removes the entries that are still missing. */
  deleteMissing(): void {
    for (const key of this.#missing) this.#entries.delete(key);
    this.#missing.clear();
  }

  /** The union over the instances, by service and RPC. */
  routes(): RegisteredRoute[] {
    const union = new Map<string, { entry: RouteEntry; instances: string[] }>();
    for (const { instance, entry, text } of this.#entries.values()) {
      const place = `${entry.service}/${entry.rpc}\n${text}`;
      const route = union.get(place);
      if (route === undefined) union.set(place, { entry, instances: [instance] });
      else route.instances.push(instance);
    }
    const routes = [...union].sort(([left], [right]) => (left < right ? -1 : 1));
    return routes.map(([, { entry, instances }]) => ({ entry, instances: instances.sort() }));
  }
}
