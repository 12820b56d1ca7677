import { WILDCARD } from "../object-id.ts";

/** Interns objects: each `type:id` has a number, from 0. */
export class ObjectTable {
  readonly #numbers: Map<string, number>[];
  readonly #ids: string[] = [];
  types = new Int32Array(1024);
  /** By type: its wildcard, or -1; every check asks for it. */
  readonly wildcards: Int32Array;

  constructor(typeCount: number) {
    this.#numbers = Array.from({ length: typeCount }, () => new Map());
    this.wildcards = new Int32Array(typeCount).fill(-1);
  }

  /** The number of an object, or -1. */
  find(type: number, id: string): number {
    return this.#numbers[type]?.get(id) ?? -1;
  }

  /** The number of an object, which is added where it is new. */
  intern(type: number, id: string): number {
    const numbers = this.#numbers[type] as Map<string, number>;
    const found = numbers.get(id);
    if (found !== undefined) return found;
    const number = this.#ids.length;
    this.#ids.push(id);
    numbers.set(id, number);
    if (number >= this.types.length) {
      const types = new Int32Array(Math.ceil(this.types.length * 1.5));
      types.set(this.types);
      this.types = types;
    }
    this.types[number] = type;
    if (id === WILDCARD) this.wildcards[type] = number;
    return number;
  }

  idOf(object: number): string {
    return this.#ids[object] as string;
  }

  /** The numbers of all objects of a type. */
  ofType(type: number): IterableIterator<number> {
    return (this.#numbers[type] as Map<string, number>).values();
  }
}
