import { WILDCARD } from "../../../model/object-id.ts";
import type { FoundSubject, LookupSubjectsRequest } from "../../engine/requests.ts";
import { type CheckSubject, UNKNOWN_RESOURCE } from "../check/check-subject.ts";
import type { Checker } from "../check/checker.ts";
import { VisitedPool, type VisitedSet } from "../graph/epoch-tables.ts";
import {
  listsOf,
  plainOf,
  type RelationshipGraph,
  usersetsOf,
} from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import {
  type ArrowStep,
  NO_MEMBER,
  type Node,
  type Program,
  type ReachNode,
} from "../program/program.ts";
import { tooManyResults } from "./listings.ts";
import { sortedTexts } from "./sort-in-turns.ts";

/** How many visits, or checks of candidates, are done before a pause is possible. */
const VISITS_A_STEP = 4096;
const CHECKS_A_STEP = 64;

/** A subject that no relationship names: it holds what the wildcard holds. */
const ANYBODY = -3;

/** A walk under way. */
interface Walk {
  readonly type: number;
  readonly member: number;
  /** Whether the resource is of the type. */
  readonly isResourceType: boolean;
  readonly visited: VisitedSet;
  readonly pending: [object: number, node: number][];
  readonly met: Set<number>;
}

/**
 * Finds the subjects that hold a permission on a resource, by walking from the resource over
 * everything that the permission is computed from, including subtracted sides. If nothing is
 * combined, every subject found holds it; otherwise each is checked. All subjects that were not
 * found also need one more check.
 */
export class SubjectFinder {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  readonly #checker: Checker;
  readonly #visited = new VisitedPool();
  readonly #maxResults: number;

  constructor(graph: RelationshipGraph, checker: Checker, maxResults: number) {
    this.#maxResults = maxResults;
    this.#graph = graph;
    this.#program = graph.program;
    this.#checker = checker;
  }

  /** The subjects, sorted by id; `*` with those that it excludes. */
  *find(request: LookupSubjectsRequest): Steps<FoundSubject[]> {
    const { resource, permission, subjectType, subjectRelation } = request;
    const { typeIds, memberIds, combines } = this.#program;
    const type = typeIds.get(subjectType) as number;
    const member =
      subjectRelation === undefined ? NO_MEMBER : (memberIds[type]?.get(subjectRelation) as number);
    const target = memberIds[typeIds.get(resource.type) as number]?.get(permission) as number;
    const object = this.#graph.findObject(resource.type, resource.id);
    const walk: Walk = {
      type,
      member,
      isResourceType: resource.type === subjectType,
      visited: this.#visited.take(),
      pending: [],
      met: new Set(),
    };
    try {
      yield* this.#walk(walk, object, target);
    } finally {
      this.#visited.give(walk.visited);
    }
    const { met } = walk;
    const all = this.#graph.objects.wildcards[type] as number;
    const wildcard = member === NO_MEMBER ? all : -1;
    const isWild = all >= 0 && met.delete(all);
    const idOf = (subject: number) =>
      subject === UNKNOWN_RESOURCE ? resource.id : this.#graph.objects.idOf(subject);
    const holds = (subject: number) => {
      if (combines[target] === 0) return true;
      const pair = this.#graph.pairs.find(subject, member);
      const who: CheckSubject = { type, object: subject, member, pair, wildcard };
      return this.#checker.check(object, target, who);
    };
    const held: string[] = [];
    const excluded: string[] = [];
    let checks = 0;
    for (const subject of met) {
      if (++checks % CHECKS_A_STEP === 0) yield;
      (holds(subject) ? held : excluded).push(idOf(subject));
    }
    const ids = yield* sortedTexts(held);
    const found: FoundSubject[] = ids.map((id) => ({ id, excluded: [] }));
    if (!isWild || member !== NO_MEMBER || !holds(ANYBODY)) return found;
    const everybody = { id: WILDCARD, excluded: yield* sortedTexts(excluded) };
    const place = found.findIndex(({ id }) => id > WILDCARD);
    return found.toSpliced(place < 0 ? found.length : place, 0, everybody);
  }

  /**
   * Adds the objects that may hold it as subjects of the type and member, including the wildcard.
   */
  *#walk(walk: Walk, object: number, target: number): Steps<void> {
    const { type, member, met, pending } = walk;
    push(walk, object, target);
    let steps = 0;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (++steps % VISITS_A_STEP === 0) yield;
      const [at, id] = next;
      const node = this.#program.nodes[id] as Node;
      if (node.kind === "and") for (const operand of node.operands) push(walk, at, operand);
      else if (node.kind === "except") {
        push(walk, at, node.base);
        push(walk, at, node.subtracted);
      } else if (node.kind === "each") this.#follow(walk, at, node.arrow);
      else {
        const isType = at < 0 ? walk.isResourceType : this.#graph.objects.types[at] === type;
        if (isType && (member === NO_MEMBER ? node.self : node.names.has(member))) met.add(at);
        this.#visit(walk, at, node);
      }
      if (met.size > this.#maxResults) throw tooManyResults(this.#maxResults);
    }
  }

  #visit(walk: Walk, object: number, node: ReachNode): void {
    const { pairs, subjects, objects } = this.#graph;
    for (const relation of node.relations) {
      const pair = pairs.find(object, relation.member);
      if (pair < 0) continue;
      const usersets = usersetsOf(pair);
      for (let index = 0; index < subjects.length(usersets); index++) {
        const to = subjects.item(usersets, index);
        push(walk, pairs.object(to), pairs.member(to));
      }
      if (walk.member !== NO_MEMBER) continue;
      const plain = plainOf(pair);
      for (let index = 0; index < subjects.length(plain); index++) {
        const subject = subjects.item(plain, index);
        if (objects.types[subject] === walk.type) walk.met.add(subject);
      }
    }
    for (const arrow of node.arrows) this.#follow(walk, object, arrow);
    for (const other of node.combined) push(walk, object, other);
  }

  #follow(walk: Walk, object: number, { relation, targets }: ArrowStep): void {
    const { pairs, subjects, objects } = this.#graph;
    const pair = pairs.find(object, relation);
    if (pair < 0) return;
    for (const list of listsOf(pair)) {
      for (let index = 0; index < subjects.length(list); index++) {
        const related = pairs.object(subjects.item(list, index));
        const target = targets[objects.types[related] as number] as number;
        if (target >= 0) push(walk, related, target);
      }
    }
  }
}

function push({ visited, pending }: Walk, object: number, node: number): void {
  if (visited.add(object, node)) pending.push([object, node]);
}
