import type { LookupResourcesRequest } from "../engine.ts";
import { type CheckSubject, checkSubject } from "./check-subject.ts";
import type { Checker } from "./checker.ts";
import { MAX_RESULTS, tooManyResults } from "./listings.ts";
import { NO_MEMBER, type Program } from "./program.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";
import { VisitedSet } from "./visited-set.ts";

/**
 * Finds the resources that a subject holds a permission on, by walking from the
 * subject. Where the permission depends on an intersection, an exclusion or an
 * `all`, what the walk finds are candidates, and each is checked.
 */
export class ResourceFinder {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  readonly #checker: Checker;
  readonly #visited = new VisitedSet();
  /** By target: which members can lead to it. */
  readonly #leading = new Map<number, Uint8Array>();
  #pendingObjects: number[] = [];
  #pendingMembers: number[] = [];
  #leads: Uint8Array = new Uint8Array();

  constructor(graph: RelationshipGraph, checker: Checker) {
    this.#graph = graph;
    this.#program = graph.program;
    this.#checker = checker;
  }

  /** The ids, sorted. */
  find({ resourceType, permission, subject }: LookupResourcesRequest): string[] {
    const type = this.#program.typeIds.get(resourceType) as number;
    const target = this.#program.memberIds[type]?.get(permission) as number;
    const who = checkSubject(this.#graph, subject);
    const confirm = this.#program.combines[target] === 1;
    const ids: string[] = [];
    for (const object of this.#walk(who, target)) {
      // An object that no relationship names can only be the subject itself.
      const known = object >= 0;
      const id = known ? this.#graph.objects.idOf(object) : subject.id;
      if (id === "*") continue;
      if (confirm && !this.#checker.check(object, target, who)) continue;
      ids.push(id);
    }
    return ids.sort();
  }

  #walk(who: CheckSubject, target: number): number[] {
    const { grants, arrowsInto, acceptedBy, subjectMembers, selfGrants } = this.#program;
    const { pairs, reverse, objects } = this.#graph;
    this.#leads = this.#leadingTo(target);
    this.#visited.clear();
    this.#pendingObjects = [];
    this.#pendingMembers = [];
    const found: number[] = [];
    if (who.member === NO_MEMBER) {
      this.#pushResources(who.pair);
      this.#pushResources(who.wildcard);
      for (const permission of selfGrants[who.type] ?? []) this.#push(who.object, permission);
    } else {
      this.#push(who.object, who.member);
      this.#pushResources(who.pair);
    }
    for (
      let object = this.#pendingObjects.pop();
      object !== undefined;
      object = this.#pendingObjects.pop()
    ) {
      const member = this.#pendingMembers.pop() as number;
      if (member === target && found.push(object) > MAX_RESULTS) throw tooManyResults();
      for (const permission of grants[member] ?? []) this.#push(object, permission);
      if (object < 0) continue;
      if ((acceptedBy[member] as readonly number[]).length > 0) {
        this.#pushResources(pairs.find(object, member));
      }
      const arrows = arrowsInto[member] as Program["arrowsInto"][number];
      if (arrows.length === 0) continue;
      for (const as of subjectMembers[objects.types[object] as number] ?? []) {
        const pair = pairs.find(object, as);
        const length = pair < 0 ? 0 : reverse.length(pair);
        for (let index = 0; index < length; index++) {
          const from = reverse.item(pair, index);
          for (const { relation, permission } of arrows) {
            if (pairs.right(from) === relation) this.#push(pairs.left(from), permission);
          }
        }
      }
    }
    return found;
  }

  /** Goes on from a subject to the resources that it has a relation to. */
  #pushResources(pair: number): void {
    if (pair < 0) return;
    const { pairs, reverse } = this.#graph;
    const length = reverse.length(pair);
    for (let index = 0; index < length; index++) {
      const from = reverse.item(pair, index);
      this.#push(pairs.left(from), pairs.right(from));
    }
  }

  #push(object: number, member: number): void {
    if (this.#leads[member] === 0 || !this.#visited.add(object, member)) return;
    this.#pendingObjects.push(object);
    this.#pendingMembers.push(member);
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
