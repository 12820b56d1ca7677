import { WILDCARD } from "../object-id.ts";
import { grown } from "./grown.ts";
import { IdTable } from "./id-table.ts";
import type { ObjectPairs } from "./object-pairs.ts";
import type { Program } from "./program.ts";

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

  /** The number of an object, which is added where it is new. */
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
}
