import type { Relationship, SubjectReference } from "../relationship.ts";
import { IntLists } from "./int-lists.ts";
import { ObjectTable } from "./object-table.ts";
import { PairTable } from "./pair-table.ts";
import { NO_MEMBER, type Program } from "./program.ts";

/**
 * All relationships, as integers. An object and a member of it are a pair; a
 * relationship is an edge from the pair of its resource to that of its subject
 * (`NO_MEMBER` for an object itself), found by hash and in lists both ways.
 *
 * Objects and pairs stay once they were named; edges go.
 */
export class RelationshipGraph {
  readonly program: Program;
  readonly objects: ObjectTable;
  /** (object, member). */
  readonly pairs = new PairTable();
  /** (pair of the resource, pair of the subject). */
  readonly edges = new PairTable();
  /** By pair: the objects and wildcards, as pairs, that it has an edge to. */
  readonly plain = new IntLists();
  /** By pair: the usersets that it has an edge to. */
  readonly usersets = new IntLists();
  /** By pair: the pairs of resources that have an edge to it. */
  readonly reverse = new IntLists();
  /** By edge: where it is in the list of its resource and in that of its subject. */
  #forwardAt = new Int32Array(1024);
  #reverseAt = new Int32Array(1024);

  constructor(program: Program) {
    this.program = program;
    this.objects = new ObjectTable(program.typeNames.length);
  }

  /** Adds a relationship that the model allows; false where it was there. */
  add({ resource, relation, subject }: Relationship): boolean {
    const { typeIds, memberIds } = this.program;
    const resourceType = typeIds.get(resource.type) as number;
    const from = this.pairs.intern(
      this.objects.intern(resourceType, resource.id),
      memberIds[resourceType]?.get(relation) as number,
    );
    const subjectType = typeIds.get(subject.type) as number;
    const member = this.memberOf(subject);
    const to = this.pairs.intern(this.objects.intern(subjectType, subject.id), member);
    if (this.edges.find(from, to) >= 0) return false;
    const edge = this.edges.intern(from, to);
    if (edge >= this.#forwardAt.length) this.#grow();
    this.#forwardAt[edge] = (member === NO_MEMBER ? this.plain : this.usersets).push(from, to);
    this.#reverseAt[edge] = this.reverse.push(to, from);
    return true;
  }

  /** Removes a relationship; false where there was none. */
  remove(relationship: Relationship): boolean {
    const edge = this.find(relationship);
    if (edge < 0) return false;
    const from = this.edges.left(edge);
    const to = this.edges.right(edge);
    const forward = this.pairs.right(to) === NO_MEMBER ? this.plain : this.usersets;
    // The last of a list takes the place of the one that goes.
    const forwardAt = this.#forwardAt[edge] as number;
    const movedTo = forward.swapRemove(from, forwardAt);
    if (movedTo >= 0) this.#forwardAt[this.edges.find(from, movedTo)] = forwardAt;
    const reverseAt = this.#reverseAt[edge] as number;
    const movedFrom = this.reverse.swapRemove(to, reverseAt);
    if (movedFrom >= 0) this.#reverseAt[this.edges.find(movedFrom, to)] = reverseAt;
    this.edges.remove(edge);
    return true;
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

  /** The pair of an object and a member of it, or of a subject; -1 where nothing names it. */
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
    const member = this.pairs.right(to);
    const resource = this.referenceOf(this.pairs.left(from));
    const subject = this.referenceOf(this.pairs.left(to));
    return {
      resource,
      relation: this.memberName(this.pairs.right(from)),
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

  #grow(): void {
    const size = Math.ceil(this.#forwardAt.length * 1.5);
    const forwardAt = new Int32Array(size);
    forwardAt.set(this.#forwardAt);
    this.#forwardAt = forwardAt;
    const reverseAt = new Int32Array(size);
    reverseAt.set(this.#reverseAt);
    this.#reverseAt = reverseAt;
  }
}
