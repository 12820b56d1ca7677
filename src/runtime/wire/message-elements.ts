import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** Protobuf's wire types. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED_32 = 5;

/** So many numbers of a packed field take as much memory and time as one other element. */
const PACKED = 16;

/** As deep as protobuf-es reads. */
const MAX_DEPTH = 100;

/** What a field of the wire becomes. */
interface FieldPlan {
  /** Of a field that holds messages: those of the message's fields. */
  readonly message?: () => MessagePlan;
  /** How many elements a packed byte counts for. */
  readonly packed?: (bytes: Uint8Array, start: number, end: number) => number;
}

/** What the fields of a message become, by their numbers. */
interface MessagePlan {
  readonly fields: ReadonlyMap<number, FieldPlan>;
  /** What the message counts beside the one of its own field. */
  readonly extra: number;
}

const plans = new WeakMap<DescMessage, MessagePlan>();

/** Making a message of so many fields takes as long, and as much memory, as reading one value. */
const FIELDS = 16;

/** What an element takes in memory beside its bytes: an object with some fields, or an item of a list. */
export const ELEMENT_BYTES = 200;

/**
 * As many elements a message counts at least: two bytes make one with all its fields, of which
 * protobuf-es keeps also those that are not given.
 */
export function leastElements({ members }: DescMessage): number {
  return Math.ceil(members.length / FIELDS);
}

/**
 * Counts the elements of an encoded message, at any depth: the values that become objects, texts or
 * list items when it is decoded, the fields that are skipped, and one for each 16 fields of a message, given or not. They cost memory and time out of all
 * proportion to their bytes. Stops at what is malformed, which decoding refuses.
 */
export function countElements(message: DescMessage, bytes: Uint8Array): number {
  return new Scan(bytes).message(planOf(message), bytes.length, 0, 0);
}

function planOf(message: DescMessage): MessagePlan {
  let plan = plans.get(message);
  if (plan === undefined) {
    plan = {
      fields: new Map(message.fields.map((field) => [field.number, planOfField(field)])),
      extra: Math.max(0, leastElements(message) - 1),
    };
    plans.set(message, plan);
  }
  return plan;
}

function planOfField(field: DescField): FieldPlan {
  if (field.fieldKind === "map") {
    const { message } = field;
    const value: FieldPlan = message === undefined ? {} : { message: () => planOf(message) };
    const entry = { fields: new Map([[2, value]]), extra: 0 };
    return { message: () => entry };
  }
  const { message } = field;
  if (message !== undefined) return { message: () => planOf(message) };
  if (field.fieldKind !== "list") return {};
  switch (field.scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return {};
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
      return { packed: varints };
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { packed: (_bytes, start, end) => (end - start) / 8 };
    default:
      return { packed: (_bytes, start, end) => (end - start) / PACKED };
  }
}

function varints(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if ((bytes[at] as number) < 0x80) count++;
  return count;
}

class Scan {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param group the number of the group that ends it; 0 for a message that ends by its length */
  message(plan: MessagePlan | undefined, end: number, group: number, depth: number): number {
    let count = plan?.extra ?? 0;
    while (this.#at < end) {
      const tag = this.#varint();
      const number = Math.floor(tag / 8);
      count++;
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
          // Malformed, as is all below that ends the scan.
          if (stop > end) return this.#stop(count);
          const field = plan?.fields.get(number);
          if (field?.message !== undefined && depth < MAX_DEPTH) {
            count += this.message(field.message(), stop, 0, depth + 1);
          } else if (field?.packed !== undefined) {
            count += field.packed(this.#bytes, this.#at, stop);
          }
          this.#at = stop;
          break;
        }
        case START_GROUP:
          if (depth >= MAX_DEPTH) return this.#stop(count);
          count += this.message(plan?.fields.get(number)?.message?.(), end, number, depth + 1);
          break;
        case END_GROUP:
          return number === group ? count : this.#stop(count);
        default:
          return this.#stop(count);
      }
    }
    return count;
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
