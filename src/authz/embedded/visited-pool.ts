import { VisitedSet } from "./visited-set.ts";

/** Sets that are used again, one for each walk that is under way: walks may take turns. */
export class VisitedPool {
  readonly #free: VisitedSet[] = [];

  /** An empty set. */
  take(): VisitedSet {
    const visited = this.#free.pop() ?? new VisitedSet();
    visited.clear();
    return visited;
  }

  /** Gives a set back. */
  give(visited: VisitedSet): void {
    this.#free.push(visited);
  }
}
