import type { CheckSubject } from "../check/check-subject.ts";
import type { VisitedSet } from "../graph/epoch-tables.ts";
import { listsOf, type RelationshipGraph } from "../graph/relationship-graph.ts";
import { NO_MEMBER, type Program } from "../program/program.ts";

/** How many visits are done before a pause is possible. */
const VISITS_A_STEP = 4096;
/**
 * How many resources of a list are added before they are visited, so that a walk that ends early
 * adds few unnecessarily.
 */
const RESOURCES_A_TURN = 64;

type Arrows = Program["arrowsInto"][number];

/** A list of resources that is read from a position on. */
interface Rest {
  readonly list: number;
  /** The arrows to follow; absent to follow the resources' own relations. */
  readonly arrows: Arrows | undefined;
  next: number;
}

/** A walk from a subject to the resources of a type that it may hold a permission on. */
export class ResourceWalk {
  readonly #graph: RelationshipGraph;
  readonly #visited: VisitedSet;
  /** By member: whether it can lead to the target. */
  readonly #leads: Uint8Array;
  /** What is still to be visited. */
  readonly #objects: number[] = [];
  readonly #members: number[] = [];
  readonly #rests: Rest[] = [];

  constructor(graph: RelationshipGraph, leads: Uint8Array, visited: VisitedSet) {
    this.#graph = graph;
    this.#leads = leads;
    this.#visited = visited;
  }

  /**
   * Yields each object at which the target is reached, once; undefined where a pause is possible.
   */
  *run(who: CheckSubject, target: number): Generator<number | undefined, void> {
    this.#begin(who);
    let steps = 0;
    do {
      for (let object = this.#objects.pop(); object !== undefined; object = this.#objects.pop()) {
        if (++steps % VISITS_A_STEP === 0) yield undefined;
        const member = this.#members.pop() as number;
        if (member === target) yield object;
        this.#visit(object, member);
      }
      if (++steps % VISITS_A_STEP === 0) yield undefined;
    } while (this.#resume());
  }

  #begin(who: CheckSubject): void {
    if (who.member !== NO_MEMBER) {
      this.#push(who.object, who.member);
      this.#follow(who.pair);
      return;
    }
    this.#follow(who.pair);
    this.#follow(who.wildcard);
    for (const permission of this.#graph.program.selfGrants[who.type] ?? []) {
      this.#push(who.object, permission);
    }
  }

  /** Continues from a member of an object. */
  #visit(object: number, member: number): void {
    const { grants, arrowsInto, acceptedBy, subjectMembers } = this.#graph.program;
    const { pairs, objects } = this.#graph;
    for (const permission of grants[member] ?? []) this.#push(object, permission);
    if (object < 0) return;
    if ((acceptedBy[member] as readonly number[]).length > 0) {
      this.#follow(pairs.find(object, member));
    }
    const arrows = arrowsInto[member] as Arrows;
    if (arrows.length === 0) return;
    for (const as of subjectMembers[objects.types[object] as number] ?? []) {
      this.#follow(pairs.find(object, as), arrows);
    }
  }

  /** Continues from a subject to the resources that it has a relation to. */
  #follow(pair: number, arrows?: Arrows): void {
    if (pair < 0) return;
    for (const list of listsOf(pair)) {
      const length = this.#graph.resources.length(list);
      if (length > RESOURCES_A_TURN) this.#rests.push({ list, arrows, next: 0 });
      else this.#pushList(list, arrows, 0, length);
    }
  }

  /** Continues with the last list; false if there is none. */
  #resume(): boolean {
    const rest = this.#rests.at(-1);
    if (rest === undefined) return false;
    const length = this.#graph.resources.length(rest.list);
    const end = Math.min(length, rest.next + RESOURCES_A_TURN);
    this.#pushList(rest.list, rest.arrows, rest.next, end);
    rest.next = end;
    // Results of this list are pushed above it, so only finished lists are popped now.
    if (end === length) this.#rests.pop();
    return true;
  }

  #pushList(list: number, arrows: Arrows | undefined, begin: number, end: number): void {
    const { pairs, resources } = this.#graph;
    for (let index = begin; index < end; index++) {
      const from = resources.item(list, index);
      if (arrows === undefined) this.#push(pairs.object(from), pairs.member(from));
      else {
        for (const { relation, permission } of arrows) {
          if (pairs.member(from) === relation) this.#push(pairs.object(from), permission);
        }
      }
    }
  }

  #push(object: number, member: number): void {
    if (this.#leads[member] === 0 || !this.#visited.add(object, member)) return;
    this.#objects.push(object);
    this.#members.push(member);
  }
}
