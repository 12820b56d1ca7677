import { commonPath } from "../../api/match-order.ts";
import type { PathTemplate, Segment } from "../../api/path-template.ts";

interface Item<Unit> {
  readonly unit: Unit;
  readonly length: number;
}

interface Node<Unit> {
  readonly literals: Map<string, Node<Unit>>;
  single?: Node<Unit>;
  /** The templates that end here, and those that end here with `**`. */
  readonly ends: Item<Unit>[];
  readonly multis: Item<Unit>[];
  /** The length of the longest text here and below. */
  longest: number;
}

/** The maximum number of nodes that a query visits before it uses an upper bound. */
const MAX_VISITS = 512;

/**
 * Templates that are matched by regular expressions, and the lengths of these.
 *
 * It finds the length that another expression must exceed, without comparing all
 * pairs: a query skips branches without a longer text, and if it would visit too
 * many nodes, it uses the longest text of the branch. A text that is longer than
 * necessary is harmless.
 */
export class RegexIndex<Unit extends { readonly template: PathTemplate }> {
  readonly #root: Node<Unit> = newNode();
  readonly #related: (left: Unit, right: Unit) => boolean;

  /** @param related - whether two units with a common path have a common request */
  constructor(related: (left: Unit, right: Unit) => boolean) {
    this.#related = related;
  }

  add(unit: Unit, length: number): void {
    const { segments } = searchTemplate(unit.template);
    let node = this.#root;
    node.longest = Math.max(node.longest, length);
    for (const segment of segments) {
      if (segment.kind === "multi") {
        node.multis.push({ unit, length });
        return;
      }
      node =
        segment.kind === "single" ? (node.single ??= newNode()) : literalChild(node, segment.text);
      node.longest = Math.max(node.longest, length);
    }
    node.ends.push({ unit, length });
  }

  /** The length of the longest text that has a request in common with this unit, or `atLeast` if that is larger. */
  longestOverlap(unit: Unit, atLeast: number): number {
    const { segments, verb } = searchTemplate(unit.template);
    let best = atLeast;
    let visits = 0;

    const consider = (items: readonly Item<Unit>[], overlapping = false) => {
      for (const item of items) {
        if (item.length <= best || !this.#related(unit, item.unit)) continue;
        if (overlapping || commonPath(unit.template, item.unit.template) !== undefined) {
          best = item.length;
        }
      }
    };
    const visit = (node: Node<Unit> | undefined, index: number): void => {
      if (node === undefined || node.longest <= best) return;
      if (++visits > MAX_VISITS) {
        best = node.longest;
        return;
      }
      consider(node.multis);
      const segment = segments[index];
      if (segment === undefined || segment.kind === "multi") consider(node.ends);
      if (segment === undefined) return;
      if (segment.kind === "literal") {
        visit(node.literals.get(segment.text), index + 1);
        this.#verbNeighbours(node, segments, index, verb, consider);
      } else {
        const next = segment.kind === "multi" ? index : index + 1;
        for (const child of node.literals.values()) visit(child, next);
        visit(node.single, next);
        return;
      }
      visit(node.single, index + 1);
    };
    visit(this.#root, 0);
    return best;
  }

  /**
   * `/a/**:v` matches `/a:v`, in which the verb belongs to another segment. Few
   * templates overlap like that, so all of them count as overlapping.
   */
  #verbNeighbours(
    node: Node<Unit>,
    segments: readonly Segment[],
    index: number,
    verb: string | undefined,
    consider: (items: readonly Item<Unit>[], overlapping: boolean) => void,
  ): void {
    const segment = segments[index];
    if (segment?.kind !== "literal") return;
    if (verb !== undefined && segments[index + 1]?.kind === "multi") {
      const child = node.literals.get(`${segment.text}:${verb}`);
      if (child !== undefined) {
        consider(child.ends, true);
        consider(child.multis, true);
      }
    }
    if (index < segments.length - 2) return;
    for (
      let colon = segment.text.indexOf(":");
      colon > 0;
      colon = segment.text.indexOf(":", colon + 1)
    ) {
      consider(node.literals.get(segment.text.slice(0, colon))?.multis ?? [], true);
    }
  }
}

/** The template with a verb after a literal as a part of it, so that equal paths are at one node. */
function searchTemplate(template: PathTemplate): Pick<PathTemplate, "segments" | "verb"> {
  const { segments, verb } = template;
  const last = segments.at(-1);
  if (verb === undefined || last?.kind !== "literal") return template;
  return {
    segments: [...segments.slice(0, -1), { kind: "literal", text: `${last.text}:${verb}` }],
  };
}

function literalChild<Unit>(node: Node<Unit>, text: string): Node<Unit> {
  let child = node.literals.get(text);
  if (child === undefined) {
    child = newNode();
    node.literals.set(text, child);
  }
  return child;
}

function newNode<Unit>(): Node<Unit> {
  return { literals: new Map(), ends: [], multis: [], longest: 0 };
}
