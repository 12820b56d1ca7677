import type { Node, ReachNode } from "./program.ts";

/** A node of an object that is being evaluated. */
export interface Frame {
  readonly node: Node;
  readonly id: number;
  readonly object: number;
  /** Where its part of the pending list begins. */
  readonly base: number;
  /** The next operand or related object. */
  next: number;
  /** The related object that is looked at. */
  related: number;
  /** The lowest frame that was met again below this one. */
  lowest: number;
}

export function newFrame(node: Node, id: number, object: number, base: number): Frame {
  return { node, id, object, base, next: 0, related: -1, lowest: Number.MAX_SAFE_INTEGER };
}

/** Whether a node is more than one of several ways. */
export function isCombined(node: Node): node is Exclude<Node, ReachNode> {
  return node.kind !== "reach";
}
