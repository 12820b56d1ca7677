import type { VisitedSet } from "../graph/epoch-tables.ts";
import {
  groupsOf,
  othersOf,
  plainOf,
  type RelationshipGraph,
  usersetsOf,
} from "../graph/relationship-graph.ts";
import { type ArrowStep, NO_MEMBER, type ReachNode } from "../program/program.ts";
import { PendingNodes } from "./check-stack.ts";
import type { CheckSubject } from "./check-subject.ts";
import { GroupSearch } from "./group-search.ts";

/** Up to this many items, a list is scanned instead of a lookup in the table of edges. */
const SHORT_LIST = 16;

/** The steps of a check through `reach` nodes, from the object towards the subject. */
export class ReachWalk {
  /** What is still to be visited. */
  readonly pending = new PendingNodes();
  readonly #graph: RelationshipGraph;
  readonly #groups: GroupSearch;
  readonly #reaches: Uint8Array;
  readonly #types: number;
  #subject: CheckSubject = { type: 0, object: -2, member: 0, pair: -1, wildcard: -1 };

  constructor(graph: RelationshipGraph) {
    this.#graph = graph;
    this.#groups = new GroupSearch(graph);
    this.#reaches = graph.program.reaches;
    this.#types = graph.program.typeNames.length;
  }

  /** Begins the check of a subject; false if the model does not allow its type at the node. */
  begin(node: number, subject: CheckSubject): boolean {
    this.#subject = subject;
    this.#groups.begin(subject);
    this.pending.top = 0;
    return this.#mayReach(node);
  }

  /** Checks an object's own relationships, and adds the nodes to continue with. */
  visit(node: ReachNode, object: number, visited: VisitedSet): boolean {
    const subject = this.#subject;
    if (object === subject.object) {
      if (subject.member === NO_MEMBER ? node.self : node.names.has(subject.member)) return true;
    }
    const { pairs, subjects } = this.#graph;
    for (const relation of node.relations) {
      const pair = pairs.find(object, relation.member);
      if (pair < 0) continue;
      if (subject.member === NO_MEMBER) {
        const list = plainOf(pair);
        if (subjects.length(list) > 0) {
          if (this.#names(list, pair, subject.pair)) return true;
          if (relation.wildcard && this.#names(list, pair, subject.wildcard)) return true;
        }
      }
      if (!relation.usersets) continue;
      const list = usersetsOf(pair);
      if (subjects.length(list) === 0) continue;
      if (subject.member !== NO_MEMBER && this.#names(list, pair, subject.pair)) return true;
      if (this.#visitUsersets(list, relation.onlyGroups, visited)) return true;
    }
    for (const arrow of node.arrows) this.#follow(arrow, object, visited);
    for (const other of node.combined) this.push(visited, object, other);
    return false;
  }

  /** Whether the subject is in one of a list of usersets; adds those that have to be walked. */
  #visitUsersets(list: number, onlyGroups: boolean, visited: VisitedSet): boolean {
    const { pairs, subjects, program } = this.#graph;
    const groups = this.#groups;
    const length = subjects.length(list);
    if (groups.expect(length)) return true;
    for (let index = 0; index < length; index++) {
      const userset = subjects.item(list, index);
      const member = onlyGroups ? NO_MEMBER : pairs.member(userset);
      if (onlyGroups || program.groups[member] === 1) {
        if (groups.ask(userset)) return true;
      } else this.push(visited, pairs.object(userset), member);
    }
    return groups.run();
  }

  #follow(arrow: ArrowStep, object: number, visited: VisitedSet): void {
    const { pairs, subjects, objects } = this.#graph;
    const pair = pairs.find(object, arrow.relation);
    if (pair < 0) return;
    const { only, targets } = arrow;
    const plain = plainOf(pair);
    const plainLength = subjects.length(plain);
    for (let index = 0; index < plainLength; index++) {
      const related = subjects.item(plain, index);
      const target = only >= 0 ? only : (targets[objects.types[related] as number] as number);
      if (target >= 0) this.push(visited, related, target);
    }
    if (!arrow.usersets) return;
    const usersets = usersetsOf(pair);
    const length = subjects.length(usersets);
    for (let index = 0; index < length; index++) {
      const related = pairs.object(subjects.item(usersets, index));
      const target = targets[objects.types[related] as number] as number;
      if (target >= 0) this.push(visited, related, target);
    }
  }

  /** Whether a non-empty list of a pair's subjects contains one; by the shortest of three ways. */
  #names(list: number, pair: number, subject: number): boolean {
    if (subject < 0) return false;
    const { subjects, resources, edges, pairs, program } = this.#graph;
    if (subjects.length(list) <= SHORT_LIST) return subjects.includes(list, subject);
    const isGroup = program.groups[pairs.member(pair)] === 1;
    const back = isGroup ? groupsOf(subject) : othersOf(subject);
    return resources.length(back) <= SHORT_LIST
      ? resources.includes(back, pair)
      : edges.find(pair, subject) >= 0;
  }

  /** Adds a node of an object, unless it was visited or cannot lead to the subject. */
  push(visited: VisitedSet, object: number, node: number): void {
    if (this.#mayReach(node) && visited.add(object, node)) this.pending.append(object, node);
  }

  #mayReach(node: number): boolean {
    return this.#reaches[node * this.#types + this.#subject.type] === 1;
  }
}
