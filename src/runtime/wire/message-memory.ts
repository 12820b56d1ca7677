import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/**
 * What the parts of a decoded message take in memory, in bytes: as measured with V8, with the room
 * that it leaves. `test/runtime/wire/message-memory.test.ts` holds them against what messages take.
 */
export const memory = {
  /** The header of a text, besides its characters. */
  TEXT: 24,
  BIGINT: 24,
  /** A number that is not a small integer, if it is not an item of a list. */
  NUMBER: 16,
  /** A view of bytes: those of a message in the binary encoding are a part of it. */
  BYTES: 104,
  /** The place of an item of a list, which grows by half. */
  ITEM: 12,
  /** A list without items, and what its first one makes room for. */
  LIST: 32,
  FIRST_ITEM: 152,
  /** A map without entries, and the place of one, with its key. */
  MAP: 56,
  ENTRY: 104,
  /** The value of a oneof. */
  ONEOF: 40,
  /** Unknown fields, if they are kept. */
  UNKNOWN: 200,
} as const;

/** An object with up to three fields, and each further one. */
const OBJECT = 72;
const FIELD = 8;
/** With more fields an object becomes a table, which takes this many bytes per field on average. */
const TABLE_FROM = 14;
const TABLE_FIELD = 56;

const made = new WeakMap<DescMessage, number>();

/** The memory of a message without values: protobuf-es also stores most absent fields. */
export function emptyMessageBytes(message: DescMessage): number {
  let bytes = made.get(message);
  if (bytes === undefined) {
    bytes = OBJECT + message.members.length * fieldBytes(message);
    for (const member of message.members) {
      if (member.kind === "oneof") bytes += memory.LIST;
      else if (member.fieldKind === "list") bytes += memory.LIST;
      else if (member.fieldKind === "map") bytes += memory.MAP;
    }
    made.set(message, bytes);
  }
  return bytes;
}

function fieldBytes({ members }: DescMessage): number {
  return members.length > TABLE_FROM ? TABLE_FIELD : FIELD;
}

/** The memory of one value of a field, besides its characters, bytes, items or fields. */
export function valueBytes(field: DescField): number {
  const oneof = field.oneof === undefined ? 0 : memory.ONEOF;
  if (field.fieldKind === "map") return memory.ENTRY + scalarBytes(field.scalar);
  const { scalar } = field;
  if (field.fieldKind !== "list") return oneof + scalarBytes(scalar);
  return memory.ITEM + scalarBytes(scalar);
}

function scalarBytes(scalar: ScalarType | undefined): number {
  switch (scalar) {
    case undefined:
    case ScalarType.BOOL:
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return 0;
    case ScalarType.STRING:
      return memory.TEXT;
    case ScalarType.BYTES:
      return memory.BYTES;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return memory.BIGINT;
    default:
      return memory.NUMBER;
  }
}

/** The most that an element takes beside the message that it may be: a list in a list of values, say. */
const ELEMENT = 600;

/**
 * The most that a message takes which has so many bytes and elements, in bytes; but for maps of few
 * entries whose keys are numbers up to some thousands.
 */
export function largestMessageBytes(
  types: readonly DescMessage[],
  bytes: number,
  elements: number,
): number {
  const seen = new Set<DescMessage>();
  const most = types.reduce((most, type) => Math.max(most, mostOfElement(type, seen)), ELEMENT);
  // Each character of a text may need two.
  return 2 * bytes + Math.ceil(elements * most);
}

function mostOfElement(message: DescMessage, seen: Set<DescMessage>): number {
  if (seen.has(message)) return 0;
  seen.add(message);
  const own = memory.FIRST_ITEM + emptyMessageBytes(message) / Math.max(1, leastElements(message));
  return message.fields.reduce(
    (most, { message: inner }) =>
      inner === undefined ? most : Math.max(most, mostOfElement(inner, seen)),
    own,
  );
}

/** V8 keeps entries with keys such as "7" as items of a list, with room for those below. */
const LIST_GAP = 1024;
const LARGEST_LIST = 5000;
const ITEM_BYTES = 8;

/** As many digits the keys have of which this is so. */
export const KEY_DIGITS = 4;
const INDEX = /^(?:0|[1-9][0-9]{0,3})$/;

/** The number that a key is for V8; NaN if it is not an index. */
export function indexOf(key: string): number {
  return key.length <= KEY_DIGITS && INDEX.test(key) ? Number(key) : Number.NaN;
}

/** The room for the entries of a map whose keys are small numbers, also as texts. */
export class IndexedEntries {
  #capacity = 0;

  /** What one more entry takes beside its own place. @param key NaN if it is not a number */
  add(key: number): number {
    const before = this.#capacity;
    if (!(key >= before && key - before < LIST_GAP)) return 0;
    const after = key + Math.floor(key / 2) + 16;
    if (after > LARGEST_LIST) return 0;
    this.#capacity = after;
    return (after - before) * ITEM_BYTES;
  }
}

/** Creating a message of this many fields takes as long, and as much memory, as reading one value. */
const FIELDS = 16;

/**
 * As many elements a message counts at least: two bytes make one with all its fields, of which
 * protobuf-es keeps also those that are not given.
 */
export function leastElements({ members }: DescMessage): number {
  return Math.ceil(members.length / FIELDS);
}
