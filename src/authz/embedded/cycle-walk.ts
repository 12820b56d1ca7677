import type { Computed } from "./computed.ts";

/** A node on the path of a walk, and what comes next there. */
interface Step {
  readonly node: Computed;
  readonly neighbours: Iterator<Computed | undefined>;
}

/**
 * A walk in depth over all that some nodes lead to, one neighbour at a time, so
 * that two walks can be made side by side and the shorter one decides.
 */
export class CycleWalk {
  readonly #starts: readonly Computed[];
  readonly #keyOf: (node: Computed) => number;
  readonly #neighboursOf: (node: Computed) => Iterator<Computed | undefined>;
  readonly #startKeys: ReadonlySet<number>;
  readonly #path: Step[] = [];
  readonly #open = new Set<number>();
  readonly #done = new Set<number>();
  #next = 0;

  constructor(
    starts: readonly Computed[],
    keyOf: (node: Computed) => number,
    neighboursOf: (node: Computed) => Iterator<Computed | undefined>,
  ) {
    this.#starts = starts;
    this.#keyOf = keyOf;
    this.#neighboursOf = neighboursOf;
    this.#startKeys = new Set(starts.map(keyOf));
  }

  /** Looks at one neighbour; returns a cycle that runs through a start, whether there is more, or that all was seen. */
  step(): readonly Computed[] | "more" | "ended" {
    const top = this.#path.at(-1);
    if (top === undefined) {
      const start = this.#starts[this.#next++];
      if (start === undefined) return "ended";
      this.#enter(start);
      return "more";
    }
    const { value: node, done } = top.neighbours.next();
    if (done === true) {
      this.#path.pop();
      const key = this.#keyOf(top.node);
      this.#open.delete(key);
      this.#done.add(key);
    } else if (node !== undefined) {
      if (this.#open.has(this.#keyOf(node))) return this.#cycleTo(node) ?? "more";
      this.#enter(node);
    }
    return "more";
  }

  #enter(node: Computed): void {
    const key = this.#keyOf(node);
    if (this.#open.has(key) || this.#done.has(key)) return;
    this.#open.add(key);
    this.#path.push({ node, neighbours: this.#neighboursOf(node) });
  }

  /** From a node of the path back to it; undefined where it was there before, for it runs through no start. */
  #cycleTo(node: Computed): readonly Computed[] | undefined {
    const key = this.#keyOf(node);
    const from = this.#path.findIndex((other) => this.#keyOf(other.node) === key);
    const cycle = this.#path.slice(from).map((step) => step.node);
    return cycle.some((other) => this.#startKeys.has(this.#keyOf(other)))
      ? [...cycle, node]
      : undefined;
  }
}
