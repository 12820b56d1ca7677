import type { LookupResourcesRequest } from "../engine.ts";
import { type CheckSubject, checkSubject } from "./check-subject.ts";
import type { Checker } from "./checker.ts";
import { tooManyResults } from "./listings.ts";
import type { Steps } from "./paced.ts";
import { NO_MEMBER, type Program } from "./program.ts";
import { listsOf, type RelationshipGraph } from "./relationship-graph.ts";
import { VisitedPool } from "./visited-pool.ts";
import type { VisitedSet } from "./visited-set.ts";

/** How many visits, or checks of what was found, are done before a pause is possible. */
const VISITS_A_STEP = 4096;
const CHECKS_A_STEP = 64;

/** One walk that is under way. */
interface Walk {
  readonly visited: VisitedSet;
  /** By member: whether it can lead to what is looked for. */
  readonly leads: Uint8Array;
  /** What is still to be visited. */
  readonly objects: number[];
  readonly members: number[];
}

/**
 * Finds the resources that a subject holds a permission on, by walking from the
 * subject. Where the permission depends on an intersection, an exclusion or an
 * `all`, what the walk finds are candidates, and each is checked.
 */
export class ResourceFinder {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  readonly #checker: Checker;
  readonly #visited = new VisitedPool();
  readonly #maxResults: number;
  /** By target: which members can lead to it. */
  readonly #leading = new Map<number, Uint8Array>();

  constructor(graph: RelationshipGraph, checker: Checker, maxResults: number) {
    this.#maxResults = maxResults;
    this.#graph = graph;
    this.#program = graph.program;
    this.#checker = checker;
  }

  /** The ids, sorted. */
  *find({ resourceType, permission, subject }: LookupResourcesRequest): Steps<string[]> {
    const type = this.#program.typeIds.get(resourceType) as number;
    const target = this.#program.memberIds[type]?.get(permission) as number;
    const who = checkSubject(this.#graph, subject);
    const confirm = this.#program.combines[target] === 1;
    const ids: string[] = [];
    let checks = 0;
    for (const object of yield* this.#walk(who, target)) {
      if (confirm && ++checks % CHECKS_A_STEP === 0) yield;
      // An object that no relationship names can only be the subject itself.
      const known = object >= 0;
      const id = known ? this.#graph.objects.idOf(object) : subject.id;
      if (id === "*") continue;
      if (confirm && !this.#checker.check(object, target, who)) continue;
      ids.push(id);
    }
    return ids.sort();
  }

  *#walk(who: CheckSubject, target: number): Steps<readonly number[]> {
    const walk: Walk = {
      visited: this.#visited.take(),
      leads: this.#leadingTo(target),
      objects: [],
      members: [],
    };
    try {
      if (who.member === NO_MEMBER) {
        this.#pushResources(walk, who.pair);
        this.#pushResources(walk, who.wildcard);
        for (const permission of this.#program.selfGrants[who.type] ?? []) {
          push(walk, who.object, permission);
        }
      } else {
        push(walk, who.object, who.member);
        this.#pushResources(walk, who.pair);
      }
      const found: number[] = [];
      let steps = 0;
      for (let object = walk.objects.pop(); object !== undefined; object = walk.objects.pop()) {
        if (++steps % VISITS_A_STEP === 0) yield;
        const member = walk.members.pop() as number;
        if (member === target && found.push(object) > this.#maxResults) {
          throw tooManyResults(this.#maxResults);
        }
        this.#visit(walk, object, member);
      }
      return found;
    } finally {
      this.#visited.give(walk.visited);
    }
  }

  /** Goes on from a member of an object. */
  #visit(walk: Walk, object: number, member: number): void {
    const { grants, arrowsInto, acceptedBy, subjectMembers } = this.#program;
    const { pairs, resources, objects } = this.#graph;
    for (const permission of grants[member] ?? []) push(walk, object, permission);
    if (object < 0) return;
    if ((acceptedBy[member] as readonly number[]).length > 0) {
      this.#pushResources(walk, pairs.find(object, member));
    }
    const arrows = arrowsInto[member] as Program["arrowsInto"][number];
    if (arrows.length === 0) return;
    for (const as of subjectMembers[objects.types[object] as number] ?? []) {
      const pair = pairs.find(object, as);
      if (pair < 0) continue;
      for (const list of listsOf(pair)) {
        const length = resources.length(list);
        for (let index = 0; index < length; index++) {
          const from = resources.item(list, index);
          for (const { relation, permission } of arrows) {
            if (pairs.member(from) === relation) push(walk, pairs.object(from), permission);
          }
        }
      }
    }
  }

  /** Goes on from a subject to the resources that it has a relation to. */
  #pushResources(walk: Walk, pair: number): void {
    if (pair < 0) return;
    const { pairs, resources } = this.#graph;
    for (const list of listsOf(pair)) {
      const length = resources.length(list);
      for (let index = 0; index < length; index++) {
        const from = resources.item(list, index);
        push(walk, pairs.object(from), pairs.member(from));
      }
    }
  }

  #leadingTo(target: number): Uint8Array {
    const known = this.#leading.get(target);
    if (known !== undefined) return known;
    const { members, grants, arrowsInto, acceptedBy } = this.#program;
    const from: number[][] = members.map(() => []);
    members.forEach((_, member) => {
      for (const to of grants[member] ?? []) from[to]?.push(member);
      for (const to of acceptedBy[member] ?? []) from[to]?.push(member);
      for (const { permission } of arrowsInto[member] ?? []) from[permission]?.push(member);
    });
    const leads = new Uint8Array(members.length);
    const pending = [target];
    for (let member = pending.pop(); member !== undefined; member = pending.pop()) {
      if (leads[member] === 1) continue;
      leads[member] = 1;
      pending.push(...(from[member] ?? []));
    }
    this.#leading.set(target, leads);
    return leads;
  }
}

function push({ visited, leads, objects, members }: Walk, object: number, member: number): void {
  if (leads[member] === 0 || !visited.add(object, member)) return;
  objects.push(object);
  members.push(member);
}
