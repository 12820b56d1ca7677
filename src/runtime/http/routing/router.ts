import { StartUpError } from "../../error/start-up-error.ts";

/** The methods that `*` stands for in `Allow`, in the order of `Allow`. */
const COMMON_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** A route and what serves it. */
export interface RouterEntry<Value> {
  readonly shape: RouteShape;
  /** How errors at start-up name the route. */
  readonly name: string;
  readonly value: Value;
}

/** What serves a request, and the segments of its path, as they were sent. */
export interface FoundRoute<Value> {
  readonly value: Value;
  readonly segments: readonly string[];
}

/**
 * Chooses the service of a request by method and path alone, never by a header such as
 * `X-Forwarded-Uri`, with which a caller could choose another policy.
 */
export class Router<Value> {
  readonly #trie = new RouteTrie<RouterEntry<Value>>();
  /**
   * The templates without variables, by their paths. No other template is narrower than one of them,
   * so a request for one needs no search.
   */
  readonly #literals = new Map<string, ByMethod<FoundRoute<Value>>>();
  readonly #methods = new Set<string>();

  /** @throws StartUpError if two routes of equal rank match the same requests */
  constructor(entries: readonly RouterEntry<Value>[]) {
    for (const entry of entries) {
      const taken = this.#trie.add(entry.shape, entry);
      if (taken !== undefined) {
        throw new StartUpError([`${entry.name} and ${taken.name} serve the same requests`]);
      }
      this.#methods.add(entry.shape.method);
      this.#addLiteral(entry);
    }
  }

  /** The route of a request; a HEAD without a route of its own is served as a GET. */
  find(method: string, path: string): FoundRoute<Value> | undefined {
    const literal = this.#literals.get(path);
    const found = literal === undefined ? undefined : chooseMethod(literal, method);
    if (found !== undefined) return found;
    const segments = segmentsOf(path);
    const entry = this.#trie.search(segments, (methods) => chooseMethod(methods, method));
    return entry === undefined ? undefined : { value: entry.value, segments };
  }

  /** The service of the narrowest template of a path, whatever the method. */
  findAny(path: string): Value | undefined {
    return this.#trie.search(segmentsOf(path), (methods) => methods.values().next().value)?.value;
  }

  /**
   * The value of `Allow` for a path; undefined if no route matches it, with any method.
   *
   * @param others methods that the path supports without a route
   */
  allow(path: string, others: readonly string[] = []): string | undefined {
    const methods = new Set(others);
    this.#trie.search(segmentsOf(path), (found) => {
      for (const method of found.keys()) methods.add(method);
      return undefined;
    });
    return methods.size === 0 ? undefined : formatAllow(methods);
  }

  /** The value of `Allow` for the whole server, for `OPTIONS *`. */
  allowAnywhere(): string {
    return formatAllow(this.#methods);
  }

  #addLiteral({ shape: { segments, verb, method }, value }: RouterEntry<Value>): void {
    if (segments.some((segment) => segment === "*" || segment === "**")) return;
    const path = `/${segments.join("/")}${verb === undefined ? "" : `:${verb}`}`;
    let methods = this.#literals.get(path);
    if (methods === undefined) this.#literals.set(path, (methods = new Map()));
    methods.set(method, { value, segments: segmentsOf(path) });
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
function segmentsOf(path: string): string[] {
  return path.length === 1 ? [] : path.slice(1).split("/");
}

/** What a route matches. */
export interface RouteShape {
  /** The segments: `*` is any one, `**` any number of them, all else is literal. */
  readonly segments: readonly string[];
  readonly verb?: string;
  /** The HTTP method; `*` for any. */
  readonly method: string;
}

/** What serves the HTTP methods of one template. */
export type ByMethod<Value> = Map<string, Value>;

/** Checks the methods of a matching template; a value ends the search. */
export type Visitor<Value, Result> = (methods: ByMethod<Value>) => Result | undefined;

/** Templates that end at one place: with a verb, and without. */
class Ends<Value> {
  plain: ByMethod<Value> | undefined;
  readonly verbs = new Map<string, ByMethod<Value>>();

  at(verb: string | undefined): ByMethod<Value> {
    let methods = verb === undefined ? this.plain : this.verbs.get(verb);
    if (methods === undefined) {
      methods = new Map();
      if (verb === undefined) this.plain = methods;
      else this.verbs.set(verb, methods);
    }
    return methods;
  }
}

class Node<Value> {
  readonly literals = new Map<string, Node<Value>>();
  single: Node<Value> | undefined;
  ends: Ends<Value> | undefined;
  /** Templates whose `**` is here. */
  rest: Ends<Value> | undefined;
}

/** A path, and its last segment taken as text and verb. */
interface SplitPath {
  readonly segments: readonly string[];
  /** The last segment before its last colon. */
  readonly base: string;
  readonly verb: string | undefined;
}

/** How the last segment was read so far. */
const PLAIN = 1;
const WITH_VERB = 2;

/**
 * Finds routes in the one match order (`src/api/match-order.ts`): segment by segment a literal
 * before `*` before `**`, an end as narrow as a literal, then a verb before none. Literals are
 * compared without decoding: an escape never matches a literal's letter, so that a path has the
 * same route here as at the edge.
 *
 * The search backtracks if a narrower path leads nowhere. It still visits each node at most once,
 * since there is only one path to each node.
 */
class RouteTrie<Value> {
  readonly #root = new Node<Value>();

  /** Adds a route; returns the value that the same method and shape already has. */
  add(shape: RouteShape, value: Value): Value | undefined {
    let node = this.#root;
    let isOpen = false;
    for (const segment of shape.segments) {
      if (segment === "**") isOpen = true;
      else if (segment === "*") node = node.single ??= new Node();
      else {
        let child = node.literals.get(segment);
        if (child === undefined) node.literals.set(segment, (child = new Node()));
        node = child;
      }
    }
    const ends = isOpen ? (node.rest ??= new Ends()) : (node.ends ??= new Ends());
    const methods = ends.at(shape.verb);
    const taken = methods.get(shape.method);
    if (taken === undefined) methods.set(shape.method, value);
    return taken;
  }

  /** Visits the templates that match, the narrowest first, until one gives a result. */
  search<Result>(segments: readonly string[], visit: Visitor<Value, Result>): Result | undefined {
    const last = segments.at(-1) ?? "";
    const colon = last.lastIndexOf(":");
    const path: SplitPath =
      colon < 0
        ? { segments, base: last, verb: undefined }
        : { segments, base: last.slice(0, colon), verb: last.slice(colon + 1) };
    return walk(this.#root, path, 0, PLAIN, visit);
  }
}

function walk<Value, Result>(
  node: Node<Value>,
  path: SplitPath,
  index: number,
  reading: number,
  visit: Visitor<Value, Result>,
): Result | undefined {
  const { segments, base, verb } = path;
  if (index === segments.length) {
    return visitEnds(node.ends, verb, reading, visit) ?? visitEnds(node.rest, verb, reading, visit);
  }
  const segment = segments[index] as string;
  const isLast = index === segments.length - 1;
  const endsInVerb = isLast && verb !== undefined;
  // Literals have no colon, so a colon in the last segment belongs to the verb.
  const literal = node.literals.get(endsInVerb ? base : segment);
  if (literal !== undefined) {
    const found = walk(literal, path, index + 1, endsInVerb ? WITH_VERB : PLAIN, visit);
    if (found !== undefined) return found;
  }
  if (node.single !== undefined && segment !== "") {
    const readings = endsInVerb && base !== "" ? PLAIN | WITH_VERB : PLAIN;
    const found = walk(node.single, path, index + 1, readings, visit);
    if (found !== undefined) return found;
  }
  return visitEnds(node.rest, verb, PLAIN | WITH_VERB, visit);
}

function visitEnds<Value, Result>(
  ends: Ends<Value> | undefined,
  verb: string | undefined,
  reading: number,
  visit: Visitor<Value, Result>,
): Result | undefined {
  if (ends === undefined) return undefined;
  if (verb !== undefined && (reading & WITH_VERB) !== 0) {
    const methods = ends.verbs.get(verb);
    const found = methods === undefined ? undefined : visit(methods);
    if (found !== undefined) return found;
  }
  return ends.plain !== undefined && (reading & PLAIN) !== 0 ? visit(ends.plain) : undefined;
}
