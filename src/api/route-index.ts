import { commonPath, compareTemplates, methodsOverlap } from "./match-order.ts";
import { type PathTemplate, shapeOf } from "./path-template.ts";

/** A method and a template that claim requests for an owner. */
export interface Route<Owner> {
  /** The HTTP method; `*` for any. */
  readonly method: string;
  readonly template: PathTemplate;
  readonly owner: Owner;
}

/** A route that claims the same request as another route. */
export interface Claim<Owner> {
  readonly route: Route<Owner>;
  /** An example of the request: `GET /v1/skills/x`. */
  readonly request: string;
}

/** Finds routes of equal rank that claim the same requests. */
export class EqualRoutes<Owner> {
  readonly #shapes = new Map<string, Route<Owner>[]>();
  /** The shape of the last template: a route is looked for, and added then. */
  #last: { readonly template: PathTemplate; readonly shape: string } | undefined;

  add(route: Route<Owner>): void {
    const shape = this.#shapeOf(route.template);
    const sameShape = this.#shapes.get(shape);
    if (sameShape === undefined) this.#shapes.set(shape, [route]);
    else sameShape.push(route);
  }

  /**
   * The first route of equal rank that claims a request of this one. Templates
   * of equal rank with a common request have the same shape.
   */
  equal(
    route: Pick<Route<Owner>, "method" | "template">,
    accept: (owner: Owner) => boolean,
  ): Claim<Owner> | undefined {
    const sameShape = this.#shapes.get(this.#shapeOf(route.template));
    if (sameShape === undefined) return undefined;
    for (const other of sameShape) {
      if (!methodsOverlap(route.method, other.method) || !accept(other.owner)) continue;
      const path = commonPath(route.template, other.template);
      if (path !== undefined) return { route: other, request: requestOf(route, other, path) };
    }
    return undefined;
  }

  #shapeOf(template: PathTemplate): string {
    if (this.#last?.template !== template) this.#last = { template, shape: shapeOf(template) };
    return this.#last.shape;
  }
}

interface Node<Owner> {
  readonly literals: Map<string, Node<Owner>>;
  single?: Node<Owner>;
  /** The routes that end here. */
  readonly ends: Route<Owner>[];
  /** The routes that end here with `**`. */
  readonly multis: Route<Owner>[];
}

/**
 * Finds routes of any rank that claim the same requests, without comparing all pairs.
 */
export class RouteIndex<Owner> {
  readonly #root: Node<Owner> = newNode();
  readonly #equal = new EqualRoutes<Owner>();

  add(route: Route<Owner>): void {
    this.#equal.add(route);
    let node = this.#root;
    for (const segment of route.template.segments) {
      if (segment.kind === "multi") {
        node.multis.push(route);
        return;
      }
      if (segment.kind === "single") {
        node.single ??= newNode();
        node = node.single;
      } else {
        let next = node.literals.get(segment.text);
        if (next === undefined) {
          next = newNode();
          node.literals.set(segment.text, next);
        }
        node = next;
      }
    }
    node.ends.push(route);
  }

  /** See `EqualRoutes`. */
  equal(
    route: Pick<Route<Owner>, "method" | "template">,
    accept: (owner: Owner) => boolean,
  ): Claim<Owner> | undefined {
    return this.#equal.equal(route, accept);
  }

  /** A route of any rank that claims a request of this one. */
  overlapping(route: Pick<Route<Owner>, "method" | "template">): Claim<Owner> | undefined {
    return this.#overlap(route, this.#root, 0, true);
  }

  /** A route of lower rank from which this one captures a request. */
  captured(route: Pick<Route<Owner>, "method" | "template">): Claim<Owner> | undefined {
    const { segments } = route.template;
    let node: Node<Owner> | undefined = this.#root;
    for (const [index, segment] of segments.entries()) {
      if (node === undefined) return undefined;
      // Where the shapes first differ, the other route must be wider; after that, any overlap counts.
      const wider: Claim<Owner> | undefined =
        this.#firstOf(route, node.multis) ??
        (segment.kind === "literal" && node.single !== undefined
          ? this.#overlap(route, node.single, index + 1)
          : undefined);
      if (wider !== undefined) return wider;
      node =
        segment.kind === "literal"
          ? node.literals.get(segment.text)
          : segment.kind === "single"
            ? node.single
            : undefined;
    }
    if (node === undefined) return undefined;
    return this.#firstOf(route, node.multis) ?? this.#firstOf(route, node.ends);
  }

  #overlap(
    route: Pick<Route<Owner>, "method" | "template">,
    node: Node<Owner>,
    index: number,
    anyRank = false,
  ): Claim<Owner> | undefined {
    const here = this.#firstOf(route, node.multis, anyRank);
    if (here !== undefined) return here;
    const segment = route.template.segments[index];
    if (segment === undefined || segment.kind === "multi") {
      const end = this.#firstOf(route, node.ends, anyRank);
      if (end !== undefined || segment === undefined) return end;
    }
    const next = segment.kind === "multi" ? index : index + 1;
    const children =
      segment.kind === "literal" ? [node.literals.get(segment.text)] : node.literals.values();
    for (const child of children) {
      const claim = child === undefined ? undefined : this.#overlap(route, child, next, anyRank);
      if (claim !== undefined) return claim;
    }
    return node.single === undefined ? undefined : this.#overlap(route, node.single, next, anyRank);
  }

  #firstOf(
    route: Pick<Route<Owner>, "method" | "template">,
    candidates: readonly Route<Owner>[],
    anyRank = false,
  ): Claim<Owner> | undefined {
    for (const other of candidates) {
      if (!methodsOverlap(route.method, other.method)) continue;
      if (!anyRank && compareTemplates(route.template, other.template) >= 0) continue;
      const path = commonPath(route.template, other.template);
      if (path !== undefined) return { route: other, request: requestOf(route, other, path) };
    }
    return undefined;
  }
}

function newNode<Owner>(): Node<Owner> {
  return { literals: new Map(), ends: [], multis: [] };
}

function requestOf(left: { method: string }, right: { method: string }, path: string): string {
  const method = left.method === "*" ? right.method : left.method;
  return `${method === "*" ? "GET" : method} ${path}`;
}
