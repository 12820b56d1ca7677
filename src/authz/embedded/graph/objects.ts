import { WILDCARD } from "../../../model/object-id.ts";
import { NO_MEMBER, NO_SLOT, type PairLayout, type Program } from "../program/program.ts";
import { IdTable } from "./id-table.ts";
import { grown } from "./int-lists.ts";

/**
 * Numbers objects and their members: each (object, member) is a pair, and an object's number is
 * that of its pair with `NO_MEMBER`, so that an object as a subject needs no lookup. See
 * `layoutPairs` for the positions of the others.
 */
export class ObjectPairs {
  readonly #layout: PairLayout;
  /** Object and member of each pair, side by side. */
  #entries = new Int32Array(2048);
  /** By object of a wide type: where its directory begins. */
  #directoryAt = new Int32Array(0);
  /** The pairs of wide objects plus one; 0 if there is none yet. */
  #directory = new Int32Array(0);
  #directoryEnd = 0;
  #next = 0;

  constructor(layout: PairLayout) {
    this.#layout = layout;
  }

  /** One more than the highest number ever given. */
  get end(): number {
    return this.#next;
  }

  /** The object of a pair. */
  object(pair: number): number {
    return this.#entries[pair * 2] as number;
  }

  /** The member of a pair; `NO_MEMBER` for an object itself. */
  member(pair: number): number {
    return this.#entries[pair * 2 + 1] as number;
  }

  /** The pair of an object and a member of its type, or -1. It may be in no relationship. */
  find(object: number, member: number): number {
    if (object < 0) return -1;
    const slot = this.#layout.slots[member] as number;
    if (slot >= 0) return object + slot;
    if (slot === NO_SLOT) return -1;
    return (this.#directory[(this.#directoryAt[object] as number) - 2 - slot] as number) - 1;
  }

  /** The pair of an object and a member that a relationship may name; added if it is new. */
  intern(object: number, member: number): number {
    const found = this.find(object, member);
    if (found >= 0) return found;
    const slot = this.#layout.slots[member] as number;
    const pair = this.#add(object, member);
    this.#directory[(this.#directoryAt[object] as number) - 2 - slot] = pair + 1;
    return pair;
  }

  /** Numbers a new object. */
  addObject(type: number, members: Iterable<number>): number {
    const object = this.#add(this.#next, NO_MEMBER);
    const { slots, blocks, directories } = this.#layout;
    const block = blocks[type] as number;
    if (block > 1) {
      for (const member of members) if ((slots[member] as number) > 0) this.#add(object, member);
    }
    const length = directories[type] as number;
    if (length > 0) {
      this.#directoryAt = grown(this.#directoryAt, object + 1);
      this.#directoryAt[object] = this.#directoryEnd;
      this.#directoryEnd += length;
      this.#directory = grown(this.#directory, this.#directoryEnd);
    }
    return object;
  }

  #add(object: number, member: number): number {
    const pair = this.#next++;
    this.#entries = grown(this.#entries, pair * 2 + 2);
    this.#entries[pair * 2] = object;
    this.#entries[pair * 2 + 1] = member;
    return pair;
  }
}

/** Interns objects: each `type:id` has a number, which is that of its own pair. */
export class ObjectTable {
  readonly #pairs: ObjectPairs;
  readonly #members: readonly (readonly number[])[];
  /** By type. */
  readonly #ids: readonly IdTable[];
  /** By object: where the table of its type has its id. */
  #places = new Int32Array(0);
  /** By object: its type. */
  types = new Int32Array(0);
  /** By type: its wildcard, or -1; every check asks for it. */
  readonly wildcards: Int32Array;

  constructor({ memberIds }: Program, pairs: ObjectPairs) {
    this.#pairs = pairs;
    this.#members = memberIds.map((ids) => [...ids.values()]);
    this.#ids = memberIds.map(() => new IdTable());
    this.wildcards = new Int32Array(memberIds.length).fill(-1);
  }

  /** The number of an object, or -1. */
  find(type: number, id: string): number {
    return this.#ids[type]?.find(id) ?? -1;
  }

  /** The number of an object; added if it is new. */
  intern(type: number, id: string): number {
    const ids = this.#ids[type] as IdTable;
    const found = ids.find(id);
    if (found >= 0) return found;
    const number = this.#pairs.addObject(type, this.#members[type] as readonly number[]);
    this.types = grown(this.types, number + 1);
    this.types[number] = type;
    this.#places = grown(this.#places, number + 1);
    this.#places[number] = ids.add(id, number);
    if (id === WILDCARD) this.wildcards[type] = number;
    return number;
  }

  idOf(object: number): string {
    const ids = this.#ids[this.types[object] as number] as IdTable;
    return ids.idAt(this.#places[object] as number);
  }

  /** Compares the ids of two objects of one type as texts: less than 0 if the left one comes first. */
  compareIds(left: number, right: number): number {
    const ids = this.#ids[this.types[left] as number] as IdTable;
    return ids.compareAt(this.#places[left] as number, this.#places[right] as number);
  }
}
