import type { Node, ReachNode } from "./program.ts";

/** A node of an object that is being evaluated. */
export interface Frame {
  node: Node;
  id: number;
  object: number;
  /** Where its part of the pending list begins. */
  base: number;
  /** The next operand or related object. */
  next: number;
  /** The related object that is looked at. */
  related: number;
  /** The lowest frame that was met again below this one. */
  lowest: number;
}

const NONE = 0x3fffffff;

/** Begins a frame; in one that is done with, where there is one, so that a check allocates none. */
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

/** Whether a node is more than one of several ways. */
export function isCombined(node: Node): node is Exclude<Node, ReachNode> {
  return node.kind !== "reach";
}
