import { AuthzError } from "../../engine/authz-error.ts";
import { NodeMemo, VisitedSet } from "../graph/epoch-tables.ts";
import { plainOf, type RelationshipGraph, usersetsOf } from "../graph/relationship-graph.ts";
import type { ArrowStep, Node, Program, ReachNode } from "../program/program.ts";
import { type Frame, isCombined, openFrame, type PendingNodes } from "./check-stack.ts";
import type { CheckSubject } from "./check-subject.ts";
import { ReachWalk } from "./reach-walk.ts";

/** The result that a finished frame passes to the one below. */
const PENDING = -1;
const FALSE = 0;
const TRUE = 1;
/** Values of the memo from here on: the depth of a node that is being evaluated. */
const OPEN = 2;
/** A check does not yield, so it is bounded: about a second. */
const MAX_STEPS = 10_000_000;
/** How many frames are kept from check to check. */
const KEPT_FRAMES = 64;

/**
 * Decides checks. A walk over a list of pending (object, node) finds everything that is granted in
 * one of several ways; intersections, exclusions and `all` are frames on a stack of their own.
 * Neither uses the call stack, so chains of groups may have any length.
 *
 * A node that is reached again while it is evaluated counts as false there: no proof needs to
 * contain itself. The model does not let a subtracted side lead back, so this is sound under
 * exclusions too. Results that are false only for that reason are not kept for the rest of the
 * check.
 */
export class Checker {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  /** The open frames are those below the depth; the others are kept for reuse. */
  readonly #frames: Frame[] = [];
  #depth = 0;
  readonly #visitedSets: VisitedSet[] = [];
  /** Its pending list is that of all frames. */
  readonly #walk: ReachWalk;
  readonly #pending: PendingNodes;
  /** What is known of the combined nodes: by object and node. */
  readonly #memo = new NodeMemo();
  #steps = 0;

  constructor(graph: RelationshipGraph) {
    this.#graph = graph;
    this.#program = graph.program;
    this.#walk = new ReachWalk(graph);
    this.#pending = this.#walk.pending;
  }

  /** Whether the subject is found at a node of an object; -1 is an object without relationships. */
  check(object: number, node: number, subject: CheckSubject): boolean {
    // The model does not have its type.
    if (subject.type < 0 || !this.#walk.begin(node, subject)) return false;
    this.#depth = 0;
    this.#steps = 0;
    this.#memo.clear();
    this.#enter(object, node);
    const allowed = this.#run();
    if (this.#frames.length > KEPT_FRAMES) {
      this.#frames.length = KEPT_FRAMES;
      this.#visitedSets.length = Math.min(this.#visitedSets.length, KEPT_FRAMES);
    }
    return allowed;
  }

  /** How many nodes the last check visited. */
  get steps(): number {
    return this.#steps;
  }

  #run(): boolean {
    let result = PENDING;
    for (;;) {
      const frame = this.#frames[this.#depth - 1] as Frame;
      const { node } = frame;
      const answer =
        node.kind === "reach"
          ? this.#resumeReach(frame, result)
          : this.#resume(frame, node, result);
      result = PENDING;
      if (answer === PENDING) continue;
      this.#depth--;
      this.#pending.top = frame.base;
      if (isCombined(node)) this.#remember(frame, answer);
      if (this.#depth === 0) return answer === TRUE;
      const below = this.#frames[this.#depth - 1] as Frame;
      if (answer === FALSE && frame.lowest < below.lowest) below.lowest = frame.lowest;
      result = answer;
    }
  }

  #remember(frame: Frame, answer: number): void {
    const provisional = answer === FALSE && frame.lowest < this.#depth;
    if (provisional) this.#memo.forget(frame.object, frame.id);
    else this.#memo.set(frame.object, frame.id, answer);
  }

  /** Begins to evaluate a node, unless its result is already known. */
  #enter(object: number, id: number): number {
    const node = this.#program.nodes[id] as Node;
    const depth = this.#depth;
    if (isCombined(node)) {
      const known = this.#memo.get(object, id);
      if (known >= 0) {
        if (known < OPEN) return known;
        const top = this.#frames[depth - 1] as Frame;
        top.lowest = Math.min(top.lowest, known - OPEN);
        return FALSE;
      }
      this.#memo.set(object, id, OPEN + depth);
    }
    this.#frames[depth] = openFrame(this.#frames[depth], node, id, object, this.#pending.top);
    this.#depth++;
    if (node.kind === "reach") {
      // Frames alternate, so the places of the others stay empty.
      this.#visitedSets[depth] ??= new VisitedSet(depth === 0 ? 256 : 8);
      const visited = this.#visitedSets[depth];
      visited.clear();
      visited.add(object, id);
      this.#pending.append(object, id);
    }
    return PENDING;
  }

  #resumeReach(frame: Frame, result: number): number {
    if (result === TRUE) return TRUE;
    const visited = this.#visitedSets[this.#depth - 1] as VisitedSet;
    const pending = this.#pending;
    while (pending.top > frame.base) {
      const top = --pending.top;
      const object = pending.object(top);
      const id = pending.node(top);
      const node = this.#program.nodes[id] as Node;
      if (++this.#steps > MAX_STEPS) throw tooManySteps();
      if (node.kind === "reach") {
        if (this.#walk.visit(node, object, visited)) return TRUE;
        continue;
      }
      const answer = this.#enter(object, id);
      if (answer === TRUE) return TRUE;
      if (answer === PENDING) return PENDING;
    }
    return FALSE;
  }

  /** Continues with a combined node, given the result of its last operand. */
  #resume(frame: Frame, node: Exclude<Node, ReachNode>, last: number): number {
    let result = last;
    for (;;) {
      if (result !== PENDING) {
        if (node.kind === "except" && frame.next === 2) return result === TRUE ? FALSE : TRUE;
        if (result === FALSE) return FALSE;
      }
      if (node.kind === "each") {
        const target = this.#nextRelated(frame, node.arrow);
        if (target === PENDING) return frame.next === 0 ? FALSE : TRUE;
        frame.next++;
        if (target < 0) return FALSE;
        result = this.#enter(frame.related, target);
      } else if (node.kind === "and") {
        const operand = node.operands[frame.next++];
        if (operand === undefined) return TRUE;
        result = this.#enter(frame.object, operand);
      } else {
        result = this.#enter(frame.object, frame.next++ === 0 ? node.base : node.subtracted);
      }
      if (result === PENDING) return PENDING;
    }
  }

  /** The node of the next object of an `all`, in `frame.related`; PENDING after the last, -2 if it has none. */
  #nextRelated(frame: Frame, arrow: ArrowStep): number {
    const { pairs, subjects, objects } = this.#graph;
    const pair = pairs.find(frame.object, arrow.relation);
    if (pair < 0) return PENDING;
    const plainLength = subjects.length(plainOf(pair));
    const isPlain = frame.next < plainLength;
    const list = isPlain ? plainOf(pair) : usersetsOf(pair);
    const index = isPlain ? frame.next : frame.next - plainLength;
    if (index >= subjects.length(list)) return PENDING;
    frame.related = pairs.object(subjects.item(list, index));
    const target = arrow.targets[objects.types[frame.related] as number] as number;
    return target < 0 ? -2 : target;
  }
}

function tooManySteps(): AuthzError {
  return new AuthzError("RESOURCE_EXHAUSTED", `the check took more than ${MAX_STEPS} steps`);
}
