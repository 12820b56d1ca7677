import { StartUpError } from "../server/start-up-error.ts";
import { type ByMethod, type RouteShape, RouteTrie } from "./route-trie.ts";

/** The methods that `*` stands for in `Allow`, in the order of `Allow`. */
const COMMON_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** A route and what serves it. */
export interface RouterEntry<Value> {
  readonly shape: RouteShape;
  /** How errors at start-up name the route. */
  readonly name: string;
  readonly value: Value;
}

/** Chooses what serves a request, by method and path alone: no header has a say (hostile input 12). */
export class Router<Value> {
  readonly #trie = new RouteTrie<RouterEntry<Value>>();
  readonly #methods = new Set<string>();

  /** @throws StartUpError where two routes match the same requests by the same rank */
  constructor(entries: readonly RouterEntry<Value>[]) {
    for (const entry of entries) {
      const taken = this.#trie.add(entry.shape, entry);
      if (taken !== undefined) {
        throw new StartUpError([`${entry.name} and ${taken.name} serve the same requests`]);
      }
      this.#methods.add(entry.shape.method);
    }
  }

  /** What serves a request; a HEAD is served as a GET where nothing serves it itself. */
  find(method: string, segments: readonly string[]): Value | undefined {
    return this.#trie.search(segments, (methods) => chooseMethod(methods, method))?.value;
  }

  /**
   * The value of `Allow` for a path; undefined where no route matches it, with any method.
   *
   * @param others methods that the path takes without a route
   */
  allow(segments: readonly string[], others: readonly string[] = []): string | undefined {
    const methods = new Set(others);
    this.#trie.search(segments, (found) => {
      for (const method of found.keys()) methods.add(method);
      return undefined;
    });
    return methods.size === 0 ? undefined : formatAllow(methods);
  }

  /** The value of `Allow` for the server as a whole, which `OPTIONS *` asks for. */
  allowAnywhere(): string {
    return formatAllow(this.#methods);
  }
}

function chooseMethod<Value>(methods: ByMethod<Value>, method: string): Value | undefined {
  const exact = methods.get(method);
  if (exact !== undefined) return exact;
  const get = method === "HEAD" ? methods.get("GET") : undefined;
  return get ?? methods.get("*");
}

function formatAllow(declared: ReadonlySet<string>): string {
  const methods = new Set(declared);
  if (methods.has("GET")) methods.add("HEAD");
  methods.add("OPTIONS");
  if (methods.delete("*")) for (const method of COMMON_METHODS) methods.add(method);
  const common = COMMON_METHODS.filter((method) => methods.delete(method));
  return [...common, ...[...methods].sort()].join(", ");
}

/** The segments of a path; none of the root. */
export function segmentsOf(path: string): string[] {
  return path.length === 1 ? [] : path.slice(1).split("/");
}
