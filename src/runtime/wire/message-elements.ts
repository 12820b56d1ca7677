import { isAscii } from "node:buffer";
import type { DescMessage } from "@bufbuild/protobuf";
import { MAX_DEPTH } from "./message-depth.ts";
import { IndexedEntries, indexOf, KEY_DIGITS, memory } from "./message-memory.ts";
import { type FieldPlan, type MessagePlan, planOf } from "./message-plan.ts";

/** Protobuf's wire types. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED_32 = 5;

/** This many bytes of packed numbers take as much time as one other element. */
const PACKED = 16;

/** Shorter texts are assumed to need two bytes per character. */
const LOOKED_AT_BYTES = 64;

/** The size of a message. */
export interface MessageSize {
  readonly elements: number;
  /** What it takes in memory once it is decoded, in bytes. */
  readonly bytes: number;
  /** The path of the innermost field with a name of its own that is nested too deep. */
  readonly tooDeep: string | undefined;
}

/**
 * Counts the elements of an encoded message, at any depth: the values that become objects, texts or
 * list items when it is decoded, the fields that are skipped, and one for each 16 fields of a
 * message, given or not. Their cost in time is out of proportion to their bytes; their memory is
 * computed as well. Stops at malformed data, which decoding refuses, and
 * at messages that are nested too deep.
 */
export function measureMessage(message: DescMessage, bytes: Uint8Array): MessageSize {
  const scan = new Scan(bytes);
  const elements = scan.message(planOf(message), bytes.length, 0, 0);
  return { elements, bytes: bytes.length + scan.memory, tooDeep: scan.tooDeep };
}

class Scan {
  /** What the parts of the message take in memory, in bytes. */
  memory = 0;
  tooDeep: string | undefined;
  readonly #bytes: Uint8Array;
  #at = 0;
  /** The key of the entry that was read last. */
  #key = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param group the number of the group that ends it; 0 for a message that ends by its length */
  message(plan: MessagePlan | undefined, end: number, group: number, depth: number): number {
    let count = plan?.extra ?? 0;
    this.memory += plan?.bytes ?? 0;
    let last = 0;
    let entries: IndexedEntries | undefined;
    let key = 0;
    while (this.#at < end) {
      const tag = this.#varint();
      const number = Math.floor(tag / 8);
      const field = plan?.fields.get(number);
      count++;
      this.memory += field?.bytes ?? memory.UNKNOWN;
      if (number !== last) {
        last = number;
        if (field?.isList === true) this.memory += memory.FIRST_ITEM;
        entries = field?.isMap === true ? new IndexedEntries() : undefined;
      }
      if (field?.key !== undefined) key = this.#keyAt(tag % 8, field.key === "zigzag");
      switch (tag % 8) {
        case VARINT:
          this.#varint();
          break;
        case FIXED_64:
          this.#at += 8;
          break;
        case FIXED_32:
          this.#at += 4;
          break;
        case LENGTH_DELIMITED: {
          const length = this.#varint();
          const stop = this.#at + length;
          // Malformed, like all cases below that end the scan.
          if (stop > end) return this.#stop(count);
          count += this.#value(field, stop, depth);
          if (this.tooDeep !== undefined) return this.#leave(field, count);
          if (entries !== undefined) this.memory += entries.add(this.#key);
          this.#at = stop;
          break;
        }
        case START_GROUP:
          if (depth >= MAX_DEPTH) {
            if (field !== undefined) this.tooDeep = "";
            return this.#leave(field, count);
          }
          count += this.message(field?.message?.(), end, number, depth + 1);
          if (this.tooDeep !== undefined) return this.#leave(field, count);
          break;
        case END_GROUP:
          return number === group ? count : this.#stop(count);
        default:
          return this.#stop(count);
      }
    }
    this.#key = key;
    return count;
  }

  /** Counts what is in a value that has a length. */
  #value(field: FieldPlan | undefined, stop: number, depth: number): number {
    if (field === undefined) return 0;
    if (field.message !== undefined) {
      if (depth < MAX_DEPTH) return this.message(field.message(), stop, 0, depth + 1);
      this.tooDeep = "";
      return 0;
    }
    const length = stop - this.#at;
    if (field.packed !== undefined) {
      const values = field.packed.count(this.#bytes, this.#at, stop);
      this.memory += values * field.bytes;
      return field.packed.isElement ? values : length / PACKED;
    }
    if (field.isText === true && this.#mayBeWide(stop)) this.memory += length;
    return 0;
  }

  /** Whether a text may need two bytes for a character. */
  #mayBeWide(stop: number): boolean {
    if (stop - this.#at < LOOKED_AT_BYTES) return true;
    return !isAscii(this.#bytes.subarray(this.#at, stop));
  }

  /** The key that comes next, if it is a small number, also as a text. */
  #keyAt(type: number, isZigzag: boolean): number {
    const start = this.#at;
    let key = Number.NaN;
    if (type === VARINT) {
      const value = this.#varint();
      key = isZigzag ? value / 2 : value;
    } else if (type === LENGTH_DELIMITED) {
      const length = this.#varint();
      if (length <= KEY_DIGITS) {
        key = indexOf(Buffer.from(this.#bytes.subarray(this.#at, this.#at + length)).toString());
      }
    } else {
      const [low = 0, high = 0, ...others] = this.#bytes.subarray(
        start,
        start + (type === FIXED_32 ? 4 : 8),
      );
      if (others.every((byte) => byte === 0)) key = low + 256 * high;
    }
    this.#at = start;
    return Number.isInteger(key) ? key : Number.NaN;
  }

  /** Ends the scan at a message that is too deep, and adds the name of a field around it. */
  #leave(field: FieldPlan | undefined, count: number): number {
    if (this.tooDeep !== undefined && field?.name !== undefined) {
      this.tooDeep = this.tooDeep === "" ? field.name : `${field.name}.${this.tooDeep}`;
    }
    return this.#stop(count);
  }

  #stop(count: number): number {
    this.#at = this.#bytes.length;
    return count;
  }

  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let index = 0; index < 10; index++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) return 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    return value;
  }
}
