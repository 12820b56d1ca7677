import type { FoundSubject, LookupSubjectsRequest } from "../engine.ts";
import { WILDCARD } from "../object-id.ts";
import type { CheckSubject } from "./check-subject.ts";
import { UNKNOWN_RESOURCE } from "./check-subject.ts";
import type { Checker } from "./checker.ts";
import { MAX_RESULTS, tooManyResults } from "./listings.ts";
import { NO_MEMBER, type Node, type Program, type ReachNode } from "./program.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";
import { VisitedSet } from "./visited-set.ts";

/** A subject that no relationship names: it holds what the wildcard holds. */
const ANYBODY = -3;

/**
 * Finds the subjects that hold a permission on a resource, by walking from the
 * resource over whatever the permission is computed from, subtracted sides
 * among it. Where nothing is combined, who is found holds it; elsewhere each
 * is checked, and all that were not met are alike: they are one more check.
 */
export class SubjectFinder {
  readonly #graph: RelationshipGraph;
  readonly #program: Program;
  readonly #checker: Checker;
  readonly #visited = new VisitedSet();
  #pending: [object: number, node: number][] = [];

  constructor(graph: RelationshipGraph, checker: Checker) {
    this.#graph = graph;
    this.#program = graph.program;
    this.#checker = checker;
  }

  /** The subjects, sorted by id; `*` with those that it does not stand for. */
  find(request: LookupSubjectsRequest): FoundSubject[] {
    const { resource, permission, subjectType, subjectRelation } = request;
    const { typeIds, memberIds, combines } = this.#program;
    const type = typeIds.get(subjectType) as number;
    const member =
      subjectRelation === undefined ? NO_MEMBER : (memberIds[type]?.get(subjectRelation) as number);
    const target = memberIds[typeIds.get(resource.type) as number]?.get(permission) as number;
    const object = this.#graph.findObject(resource.type, resource.id);
    const met = this.#walk(object, target, type, member, resource.type === subjectType);
    const all = this.#graph.objects.wildcards[type] as number;
    const wildcard = all >= 0 && member === NO_MEMBER ? this.#graph.pairs.find(all, NO_MEMBER) : -1;
    const isWild = all >= 0 && met.delete(all);
    const idOf = (subject: number) =>
      subject === UNKNOWN_RESOURCE ? resource.id : this.#graph.objects.idOf(subject);
    const holds = (subject: number) => {
      if (combines[target] === 0) return true;
      const pair = subject < 0 ? -1 : this.#graph.pairs.find(subject, member);
      const who: CheckSubject = { type, object: subject, member, pair, wildcard };
      return this.#checker.check(object, target, who);
    };
    const held: string[] = [];
    const excluded: string[] = [];
    for (const subject of met) (holds(subject) ? held : excluded).push(idOf(subject));
    const found: FoundSubject[] = held.sort().map((id) => ({ id, excluded: [] }));
    if (!isWild || member !== NO_MEMBER || !holds(ANYBODY)) return found;
    const everybody = { id: WILDCARD, excluded: excluded.sort() };
    const place = found.findIndex(({ id }) => id > WILDCARD);
    return found.toSpliced(place < 0 ? found.length : place, 0, everybody);
  }

  /** The objects that may hold it as subjects of the type and member, the wildcard among them. */
  #walk(
    object: number,
    target: number,
    type: number,
    member: number,
    sameType: boolean,
  ): Set<number> {
    const met = new Set<number>();
    this.#visited.clear();
    this.#pending = [];
    this.#push(object, target);
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const [at, id] = next;
      const node = this.#program.nodes[id] as Node;
      if (node.kind === "and") for (const operand of node.operands) this.#push(at, operand);
      else if (node.kind === "except") {
        this.#push(at, node.base);
        this.#push(at, node.subtracted);
      } else if (node.kind === "each") this.#follow(at, node.arrow);
      else {
        const isType = at < 0 ? sameType : this.#graph.objects.types[at] === type;
        if (isType && (member === NO_MEMBER ? node.self : node.names.has(member))) met.add(at);
        this.#visit(at, node, type, member, met);
      }
      if (met.size > MAX_RESULTS) throw tooManyResults();
    }
    return met;
  }

  #visit(object: number, node: ReachNode, type: number, member: number, met: Set<number>): void {
    const { pairs, plain, usersets, objects } = this.#graph;
    for (const relation of node.relations) {
      const pair = pairs.find(object, relation.member);
      if (pair < 0) continue;
      for (let index = 0; index < usersets.length(pair); index++) {
        const to = usersets.item(pair, index);
        this.#push(pairs.left(to), pairs.right(to));
      }
      if (member !== NO_MEMBER) continue;
      for (let index = 0; index < plain.length(pair); index++) {
        const to = plain.item(pair, index);
        const subject = pairs.left(to);
        if (objects.types[subject] === type) met.add(subject);
      }
    }
    for (const arrow of node.arrows) this.#follow(object, arrow);
    for (const other of node.combined) this.#push(object, other);
  }

  #follow(object: number, { relation, targets }: ReachNode["arrows"][number]): void {
    const { pairs, plain, usersets, objects } = this.#graph;
    const pair = pairs.find(object, relation);
    if (pair < 0) return;
    for (const list of [plain, usersets]) {
      for (let index = 0; index < list.length(pair); index++) {
        const to = list.item(pair, index);
        const related = pairs.left(to);
        const target = targets[objects.types[related] as number] as number;
        if (target >= 0) this.#push(related, target);
      }
    }
  }

  #push(object: number, node: number): void {
    if (this.#visited.add(object, node)) this.#pending.push([object, node]);
  }
}
