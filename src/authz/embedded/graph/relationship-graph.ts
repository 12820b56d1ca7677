import type { Relationship, SubjectReference } from "../../../model/relationship.ts";
import { NO_MEMBER, type Program } from "../program/program.ts";
import { grown, IntLists } from "./int-lists.ts";
import { ObjectPairs, ObjectTable } from "./objects.ts";
import { PairTable } from "./pair-table.ts";

/**
 * All relationships, as integers. An object and a member of it are a pair; a
 * relationship is an edge from the pair of its resource to that of its subject
 * (`NO_MEMBER` for an object itself), found by hash and in lists both ways.
 *
 * Objects and pairs are never removed; edges are.
 */
export class RelationshipGraph {
  readonly program: Program;
  /** (object, member). */
  readonly pairs: ObjectPairs;
  readonly objects: ObjectTable;
  /** (pair of the resource, pair of the subject). */
  readonly edges = new PairTable();
  /** The pairs of subjects that a pair has an edge to; see `plainOf` and `usersetsOf`. */
  readonly subjects = new IntLists();
  /** The pairs of resources that have an edge to a pair; see `groupsOf` and `othersOf`. */
  readonly resources = new IntLists();
  /** Differs after every change, also one that was undone. */
  version = 0;
  /** By edge: where it is in the list of its resource and in that of its subject, side by side. */
  #places = new Int32Array(2048);

  constructor(program: Program) {
    this.program = program;
    this.pairs = new ObjectPairs(program.layout);
    this.objects = new ObjectTable(program, this.pairs);
  }

  /** Adds a relationship that the model allows; false if it was there. */
  add({ resource, relation, subject }: Relationship): boolean {
    const { typeIds, memberIds } = this.program;
    const resourceType = typeIds.get(resource.type) as number;
    const from = this.pairs.intern(
      this.objects.intern(resourceType, resource.id),
      memberIds[resourceType]?.get(relation) as number,
    );
    const subjectType = typeIds.get(subject.type) as number;
    const to = this.pairs.intern(
      this.objects.intern(subjectType, subject.id),
      this.memberOf(subject),
    );
    const edge = this.edges.add(from, to);
    if (edge < 0) return false;
    this.version++;
    this.subjects.reserve(2 * this.pairs.end);
    this.resources.reserve(2 * this.pairs.end);
    this.#places = grown(this.#places, 2 * edge + 2);
    this.#places[2 * edge] = this.subjects.push(this.#subjectList(from, to), to);
    this.#places[2 * edge + 1] = this.resources.push(this.#resourceList(from, to), from);
    return true;
  }

  /** Removes a relationship; false if there was none. */
  remove(relationship: Relationship): boolean {
    const edge = this.find(relationship);
    if (edge < 0) return false;
    this.version++;
    const from = this.edges.left(edge);
    const to = this.edges.right(edge);
    // The last item of a list takes the place of the removed one.
    const inSubjects = this.#places[2 * edge] as number;
    const movedTo = this.subjects.swapRemove(this.#subjectList(from, to), inSubjects);
    if (movedTo >= 0) this.#places[2 * this.edges.find(from, movedTo)] = inSubjects;
    const inResources = this.#places[2 * edge + 1] as number;
    const movedFrom = this.resources.swapRemove(this.#resourceList(from, to), inResources);
    if (movedFrom >= 0) this.#places[2 * this.edges.find(movedFrom, to) + 1] = inResources;
    this.edges.remove(edge);
    return true;
  }

  #subjectList(from: number, to: number): number {
    return this.pairs.member(to) === NO_MEMBER ? plainOf(from) : usersetsOf(from);
  }

  #resourceList(from: number, to: number): number {
    return this.program.groups[this.pairs.member(from)] === 1 ? groupsOf(to) : othersOf(to);
  }

  /** The edge of a relationship, or -1. */
  find({ resource, relation, subject }: Relationship): number {
    const from = this.findPair(resource.type, resource.id, relation);
    const to = this.findPair(subject.type, subject.id, subject.relation);
    return from < 0 || to < 0 ? -1 : this.edges.find(from, to);
  }

  has(relationship: Relationship): boolean {
    return this.find(relationship) >= 0;
  }

  /** The number of an object, or -1. */
  findObject(type: string, id: string): number {
    const number = this.program.typeIds.get(type);
    return number === undefined ? -1 : this.objects.find(number, id);
  }

  /** The pair of an object and a member of it, or of a subject; -1 if nothing names it. */
  findPair(type: string, id: string, member: string | undefined): number {
    const object = this.findObject(type, id);
    if (object < 0) return -1;
    const number = this.memberOf({
      type,
      id,
      ...(member === undefined ? {} : { relation: member }),
    });
    return number < 0 ? -1 : this.pairs.find(object, number);
  }

  /** The member that a subject names; -1 where its type has none of that name. */
  memberOf({ type, relation }: SubjectReference): number {
    if (relation === undefined) return NO_MEMBER;
    const number = this.program.typeIds.get(type);
    return number === undefined ? -1 : (this.program.memberIds[number]?.get(relation) ?? -1);
  }

  /** An edge as a relationship. */
  relationshipOf(edge: number): Relationship {
    const from = this.edges.left(edge);
    const to = this.edges.right(edge);
    const member = this.pairs.member(to);
    const resource = this.referenceOf(this.pairs.object(from));
    const subject = this.referenceOf(this.pairs.object(to));
    return {
      resource,
      relation: this.memberName(this.pairs.member(from)),
      subject: member === NO_MEMBER ? subject : { ...subject, relation: this.memberName(member) },
    };
  }

  /** An object's type and id. */
  referenceOf(object: number): { type: string; id: string } {
    const type = this.program.typeNames[this.objects.types[object] as number] as string;
    return { type, id: this.objects.idOf(object) };
  }

  memberName(member: number): string {
    return this.program.members[member]?.name as string;
  }
}

// The two lists of a pair are adjacent, so that reading a pair touches one cache line.

/** In `subjects`: the objects and wildcards of a pair. */
export function plainOf(pair: number): number {
  return 2 * pair;
}

/** In `subjects`: the usersets of a pair. */
export function usersetsOf(pair: number): number {
  return 2 * pair + 1;
}

/** In `resources`: the groups that a pair is in, which are subjects themselves; see `Program.groups`. */
export function groupsOf(pair: number): number {
  return 2 * pair;
}

/** In `resources`: the other resources that a pair has a relation to. */
export function othersOf(pair: number): number {
  return 2 * pair + 1;
}

/** Both lists of a pair, in `subjects` and in `resources`. */
export function listsOf(pair: number): readonly number[] {
  return [2 * pair, 2 * pair + 1];
}
