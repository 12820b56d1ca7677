import { WILDCARD } from "../../../model/object-id.ts";
import type { CheckAnyRequest } from "../../engine/requests.ts";
import { type CheckSubject, checkSubject } from "../check/check-subject.ts";
import type { Checker } from "../check/checker.ts";
import { VisitedPool } from "../graph/epoch-tables.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import type { Program } from "../program/program.ts";
import { tooManyResults } from "./listings.ts";
import { ResourceWalk } from "./resource-walk.ts";
import { sortedTexts } from "./sort-in-turns.ts";

/** How many checks of candidates are done before a pause is possible. */
const CHECKS_A_STEP = 64;

/** The target of the lookup, as integers. */
interface Lookup {
  readonly who: CheckSubject;
  readonly target: number;
  /** Whether each result of the walk needs a check. */
  readonly confirm: boolean;
}

/**
 * Finds the resources that a subject holds a permission on, by walking from the subject. If the
 * permission depends on an intersection, an exclusion or an `all`, the results of the walk are
 * candidates, and each is checked.
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
  *find(request: CheckAnyRequest): Steps<string[]> {
    const lookup = this.#lookup(request);
    const found: number[] = [];
    for (const object of this.#walk(lookup)) {
      if (object === undefined) yield;
      else if (found.push(object) > this.#maxResults) throw tooManyResults(this.#maxResults);
    }
    const ids: string[] = [];
    let checks = 0;
    for (const object of found) {
      if (lookup.confirm && ++checks % CHECKS_A_STEP === 0) yield;
      const id = this.#idOf(object, request);
      if (id !== WILDCARD && this.#isHeld(object, lookup)) ids.push(id);
    }
    return yield* sortedTexts(ids);
  }

  /** Whether there is any: each candidate is checked at once, until one is held. */
  *any(request: CheckAnyRequest): Steps<boolean> {
    const lookup = this.#lookup(request);
    let checks = 0;
    for (const object of this.#walk(lookup)) {
      if (object === undefined || ++checks % CHECKS_A_STEP === 0) yield;
      if (object === undefined || this.#idOf(object, request) === WILDCARD) continue;
      if (this.#isHeld(object, lookup)) return true;
    }
    return false;
  }

  #lookup({ resourceType, permission, subject }: CheckAnyRequest): Lookup {
    const type = this.#program.typeIds.get(resourceType) as number;
    const target = this.#program.memberIds[type]?.get(permission) as number;
    const confirm = this.#program.combines[target] === 1;
    return { who: checkSubject(this.#graph, subject), target, confirm };
  }

  *#walk({ who, target }: Lookup): Generator<number | undefined, void> {
    // The model does not have its type.
    if (who.type < 0) return;
    const visited = this.#visited.take();
    try {
      yield* new ResourceWalk(this.#graph, this.#leadingTo(target), visited).run(who, target);
    } finally {
      this.#visited.give(visited);
    }
  }

  /** An object that no relationship names can only be the subject itself. */
  #idOf(object: number, { subject }: CheckAnyRequest): string {
    return object >= 0 ? this.#graph.objects.idOf(object) : subject.id;
  }

  #isHeld(object: number, { who, target, confirm }: Lookup): boolean {
    return !confirm || this.#checker.check(object, target, who);
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
