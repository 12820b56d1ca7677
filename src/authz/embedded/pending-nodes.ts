import { grown } from "./grown.ts";

/** A stack of objects and nodes of theirs that are to be visited. */
export class PendingNodes {
  /** How many there are; what is above was taken off. */
  top = 0;
  #objects = new Int32Array(256);
  #nodes = new Int32Array(256);

  /** The object at a place. */
  object(place: number): number {
    return this.#objects[place] as number;
  }

  /** The node at a place. */
  node(place: number): number {
    return this.#nodes[place] as number;
  }

  /** Puts one on top. */
  append(object: number, node: number): void {
    const top = this.top++;
    if (top === this.#objects.length) {
      this.#objects = grown(this.#objects, top + 1);
      this.#nodes = grown(this.#nodes, top + 1);
    }
    this.#objects[top] = object;
    this.#nodes[top] = node;
  }
}
