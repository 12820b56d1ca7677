import { grown } from "../graph/int-lists.ts";
import type { Node, ReachNode } from "../program/program.ts";

/** A node of an object that is being evaluated. */
export interface Frame {
  node: Node;
  id: number;
  object: number;
  /** Where its part of the pending list begins. */
  base: number;
  /** The next operand or related object. */
  next: number;
  /** The related object being evaluated. */
  related: number;
  /** The lowest frame that was met again below this one. */
  lowest: number;
}

const NONE = 0x3fffffff;

/** Begins a frame. It reuses a finished frame if there is one, so that a check allocates none. */
export function openFrame(
  frame: Frame | undefined,
  node: Node,
  id: number,
  object: number,
  base: number,
): Frame {
  if (frame === undefined) return { node, id, object, base, next: 0, related: -1, lowest: NONE };
  frame.node = node;
  frame.id = id;
  frame.object = object;
  frame.base = base;
  frame.next = 0;
  frame.related = -1;
  frame.lowest = NONE;
  return frame;
}

/** Whether a node combines its operands, rather than granting by one of several ways. */
export function isCombined(node: Node): node is Exclude<Node, ReachNode> {
  return node.kind !== "reach";
}

/** A stack of objects and their nodes that are still to be visited. */
export class PendingNodes {
  /** How many entries there are; those above were popped. */
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

  /** Pushes an entry. */
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
