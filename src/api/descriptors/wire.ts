import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

export { type BinaryReader, WireType };

/**
 * Visits each field of an encoded message.
 *
 * The visitor reads the value and returns true, or returns false to pass over
 * it. Nothing is decoded that nobody asks for: of a large image, most bytes
 * are only jumped over.
 *
 * @throws RangeError or Error where the bytes are not a message.
 */
export function eachField(
  bytes: Uint8Array,
  visit: (field: number, wireType: WireType, reader: BinaryReader) => boolean,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const tag = readTag(bytes, reader);
    const field = tag >>> 3;
    const wireType: WireType = tag & 7;
    if (!visit(field, wireType, reader)) pass(reader, field, wireType);
    if (reader.pos > reader.len) throw new RangeError("a field ends past its message");
  }
}

/** Most tags are one byte; of others, and of wrong ones, the reader has its own way. */
function readTag(bytes: Uint8Array, reader: BinaryReader): number {
  const tag = bytes[reader.pos] ?? 0;
  if (tag >= 8 && tag < 0x80 && (tag & 7) <= WireType.Bit32) {
    reader.pos++;
    return tag;
  }
  const [field, wireType] = reader.tag();
  return ((field << 3) | wireType) >>> 0;
}

/**
 * The same bytes, not as a Buffer of Node.js: each piece that is cut from one of these is made by
 * a slower way.
 */
export function plainBytes({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function pass(reader: BinaryReader, field: number, wireType: WireType): void {
  if (wireType === WireType.LengthDelimited) {
    const length = reader.uint32();
    reader.pos += length;
  } else {
    reader.skip(wireType, field);
  }
}

/**
 * A message of which the input holds several occurrences, as one: protobuf merges them, and the
 * concatenation of messages is their merge.
 */
export function joined(occurrences: readonly Uint8Array[]): Uint8Array {
  const [first] = occurrences;
  return first !== undefined && occurrences.length === 1 ? first : Buffer.concat(occurrences);
}

/** The numbers of a repeated int32 field, of which one entry, packed or not, is at the reader. */
export function readPackable(reader: BinaryReader, wireType: WireType, into: number[]): void {
  if (wireType === WireType.LengthDelimited) {
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) throw new RangeError("a field ends past its message");
    while (reader.pos < end) into.push(reader.int32());
  } else {
    into.push(reader.int32());
  }
}

/** How deep messages may nest; protoc refuses deeper nesting itself. */
export const MAX_NESTING = 100;
/** The fewest bytes of a level: the tag and the length of the message in it. */
const LEVEL_BYTES = 2;
/** The number of `DescriptorProto.nested_type`. */
const NESTED_TYPE = 3;

/**
 * Whether messages nest so deep that nothing may walk down into them.
 *
 * @param messages - encoded `DescriptorProto`s
 */
export function nestsTooDeep(messages: readonly Uint8Array[], depth = 0): boolean {
  return messages.some((bytes) => {
    if (depth > MAX_NESTING) return true;
    // Most messages are too short to nest that deep, and are not looked at.
    if (bytes.length < (MAX_NESTING - depth) * LEVEL_BYTES) return false;
    const nested: Uint8Array[] = [];
    eachField(bytes, (number, wireType, reader) => {
      if (number !== NESTED_TYPE || wireType !== WireType.LengthDelimited) return false;
      nested.push(reader.bytes());
      return true;
    });
    return nested.length > 0 && nestsTooDeep(nested, depth + 1);
  });
}
