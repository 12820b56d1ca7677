import { AuthzError } from "../authz-error.ts";
import { type Frame, isCombined, newFrame } from "./check-frame.ts";
import type { CheckSubject } from "./check-subject.ts";
import type { IntLists } from "./int-lists.ts";
import type { Node, Program, ReachNode } from "./program.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";
import { VisitedSet } from "./visited-set.ts";

/** What a frame that ended hands to the one below. */
const PENDING = -1;
const FALSE = 0;
const TRUE = 1;
/** Values of the memo from here on: the depth of a node that is being evaluated. */
const OPEN = 2;
/** A bound on pathological graphs, far above any that a write lets come about. */
const MAX_STEPS = 100_000_000;
/** Up to how many relationships a subject's own list is looked through. */
const SHORT_LIST = 32;
/** How many sets of visited nodes are kept from check to check. */
const KEPT_SETS = 64;

/**
 * Decides checks. A walk over a list of pending (object, node) finds whatever
 * is granted in one of several ways; intersections, exclusions and `all` are
 * frames on a stack of their own. Neither uses the call stack, so chains of
 * groups may have any length.
 *
 * A node that is met again while it is evaluated counts as false there: a
 * proof need not run through itself. The model lets no subtracted side lead
 * back, so that is sound under exclusions too. What was found false only for
 * that reason is not kept for the rest of the check.
 */
export class Checker {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  readonly #types: number;
  readonly #frames: Frame[] = [];
  readonly #visitedSets: VisitedSet[] = [];
  /** Pending objects and nodes, of all frames. */
  #objects = new Int32Array(256);
  #nodes = new Int32Array(256);
  /** The pair of each, where it is known: the userset that led there. */
  #pairs = new Int32Array(256);
  #top = 0;
  /** What is known of the combined nodes: by object and node. */
  readonly #memo = new Map<number, number>();
  #steps = 0;
  #subject: CheckSubject = { type: 0, object: -2, member: 0, pair: -1, wildcard: -1 };

  constructor(graph: RelationshipGraph) {
    this.#graph = graph;
    this.#program = graph.program;
    this.#types = graph.program.typeNames.length;
  }

  /** Whether the subject is found at a node of an object; -1 is an object without relationships. */
  check(object: number, node: number, subject: CheckSubject): boolean {
    if (this.#program.reaches[node * this.#types + subject.type] === 0) return false;
    this.#subject = subject;
    this.#frames.length = 0;
    this.#top = 0;
    this.#steps = 0;
    if (this.#memo.size > 0) this.#memo.clear();
    this.#enter(object, node);
    const allowed = this.#run();
    if (this.#visitedSets.length > KEPT_SETS) this.#visitedSets.length = KEPT_SETS;
    return allowed;
  }

  #run(): boolean {
    const frames = this.#frames;
    let result = PENDING;
    for (;;) {
      const frame = frames[frames.length - 1] as Frame;
      const { node } = frame;
      const answer =
        node.kind === "reach"
          ? this.#resumeReach(frame, result)
          : this.#resume(frame, node, result);
      result = PENDING;
      if (answer === PENDING) continue;
      frames.pop();
      this.#top = frame.base;
      if (isCombined(node)) this.#remember(frame, answer);
      const below = frames[frames.length - 1];
      if (below === undefined) return answer === TRUE;
      if (answer === FALSE && frame.lowest < below.lowest) below.lowest = frame.lowest;
      result = answer;
    }
  }

  #remember(frame: Frame, answer: number): void {
    const key = this.#key(frame.object, frame.id);
    const provisional = answer === FALSE && frame.lowest < this.#frames.length;
    if (provisional) this.#memo.delete(key);
    else this.#memo.set(key, answer);
  }

  /** Begins to evaluate a node; what is known of it already is the answer. */
  #enter(object: number, id: number): number {
    const node = this.#program.nodes[id] as Node;
    const depth = this.#frames.length;
    if (isCombined(node)) {
      const key = this.#key(object, id);
      const known = this.#memo.get(key);
      if (known !== undefined) {
        if (known < OPEN) return known;
        const top = this.#frames[depth - 1] as Frame;
        top.lowest = Math.min(top.lowest, known - OPEN);
        return FALSE;
      }
      this.#memo.set(key, OPEN + depth);
    }
    this.#frames.push(newFrame(node, id, object, this.#top));
    if (node.kind === "reach") {
      // Frames alternate, so the places of the others stay empty.
      this.#visitedSets[depth] ??= new VisitedSet(depth === 0 ? 256 : 8);
      const visited = this.#visitedSets[depth];
      visited.clear();
      visited.add(object, id);
      this.#append(object, id, -1);
    }
    return PENDING;
  }

  #resumeReach(frame: Frame, result: number): number {
    if (result === TRUE) return TRUE;
    const visited = this.#visitedSets[this.#frames.length - 1] as VisitedSet;
    while (this.#top > frame.base) {
      this.#top--;
      const object = this.#objects[this.#top] as number;
      const id = this.#nodes[this.#top] as number;
      const node = this.#program.nodes[id] as Node;
      if (++this.#steps > MAX_STEPS) throw tooManySteps();
      if (node.kind === "reach") {
        if (this.#visit(node, id, object, this.#pairs[this.#top] as number, visited)) return TRUE;
        continue;
      }
      const answer = this.#enter(object, id);
      if (answer === TRUE) return TRUE;
      if (answer === PENDING) return PENDING;
    }
    return FALSE;
  }

  /** Looks at an object's own relationships, and notes where to go on. */
  #visit(node: ReachNode, id: number, object: number, known: number, visited: VisitedSet): boolean {
    const subject = this.#subject;
    if (object === subject.object) {
      if (subject.member === 0 ? node.self : node.names.has(subject.member)) return true;
    }
    const { pairs, plain, usersets } = this.#graph;
    for (const relation of node.relations) {
      const { member } = relation;
      const pair = known >= 0 && member === id ? known : pairs.find(object, member);
      if (pair < 0) continue;
      if (subject.pair >= 0 && this.#names(pair, subject.pair)) return true;
      if (relation.wildcard && subject.wildcard >= 0 && this.#names(pair, subject.wildcard)) {
        return true;
      }
      const length = relation.usersets ? usersets.length(pair) : 0;
      for (let index = 0; index < length; index++) {
        const userset = usersets.item(pair, index);
        this.#push(visited, pairs.left(userset), pairs.right(userset), userset);
      }
    }
    const types = this.#graph.objects.types;
    for (const { relation, usersets: alsoUsersets, targets, only } of node.arrows) {
      const pair = pairs.find(object, relation);
      if (pair < 0) continue;
      for (let list: IntLists | undefined = plain; list !== undefined; ) {
        const length = list.length(pair);
        for (let index = 0; index < length; index++) {
          const to = list.item(pair, index);
          const related = pairs.left(to);
          const target = only >= 0 ? only : (targets[types[related] as number] as number);
          if (target >= 0) this.#push(visited, related, target, -1);
        }
        list = list === plain && alsoUsersets ? usersets : undefined;
      }
    }
    for (const other of node.combined) this.#push(visited, object, other, -1);
    return false;
  }

  /**
   * Whether a pair has an edge to one of a subject. Most subjects are in few
   * relationships: their list is in the processor's cache after the first look,
   * where the table of all edges is not.
   */
  #names(pair: number, subject: number): boolean {
    const { edges, reverse } = this.#graph;
    return reverse.length(subject) > SHORT_LIST
      ? edges.find(pair, subject) >= 0
      : reverse.includes(subject, pair);
  }

  #push(visited: VisitedSet, object: number, node: number, pair: number): void {
    if (this.#program.reaches[node * this.#types + this.#subject.type] === 0) return;
    if (visited.add(object, node)) this.#append(object, node, pair);
  }

  #append(object: number, node: number, pair: number): void {
    if (this.#top === this.#objects.length) this.#grow();
    this.#objects[this.#top] = object;
    this.#nodes[this.#top] = node;
    this.#pairs[this.#top++] = pair;
  }

  /** Goes on with a combined node, given what its last operand came to. */
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

  /** The node of the next object of an `all`, in `frame.related`; PENDING behind the last, -2 where it has none. */
  #nextRelated(frame: Frame, arrow: { relation: number; targets: Int32Array }): number {
    const { pairs, plain, usersets, objects } = this.#graph;
    const pair = pairs.find(frame.object, arrow.relation);
    if (pair < 0) return PENDING;
    const plainLength = plain.length(pair);
    const list = frame.next < plainLength ? plain : usersets;
    const index = frame.next < plainLength ? frame.next : frame.next - plainLength;
    if (index >= list.length(pair)) return PENDING;
    const to = list.item(pair, index);
    frame.related = pairs.left(to);
    const target = arrow.targets[objects.types[frame.related] as number] as number;
    return target < 0 ? -2 : target;
  }

  #key(object: number, node: number): number {
    return (object + 1) * this.#program.nodes.length + node;
  }

  #grow(): void {
    const objects = new Int32Array(this.#objects.length * 2);
    objects.set(this.#objects);
    this.#objects = objects;
    const nodes = new Int32Array(this.#nodes.length * 2);
    nodes.set(this.#nodes);
    this.#nodes = nodes;
    const pairs = new Int32Array(this.#pairs.length * 2);
    pairs.set(this.#pairs);
    this.#pairs = pairs;
  }
}

function tooManySteps(): AuthzError {
  return new AuthzError("RESOURCE_EXHAUSTED", `the check took more than ${MAX_STEPS} steps`);
}
