import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

export { type BinaryReader, WireType };

/**
 * Visits each field of an encoded message.
 *
 * The visitor reads the value and returns true, or returns false to pass over
 * it. Nothing is decoded that nobody asks for: of a large image, most bytes
 * are only jumped over.
 *
 * @throws RangeError or Error where the bytes are no message.
 */
export function eachField(
  bytes: Uint8Array,
  visit: (field: number, wireType: WireType, reader: BinaryReader) => boolean,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (!visit(field, wireType, reader)) pass(reader, field, wireType);
    if (reader.pos > reader.len) throw new RangeError("a field ends behind its message");
  }
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
    if (end > reader.len) throw new RangeError("a field ends behind its message");
    while (reader.pos < end) into.push(reader.int32());
  } else {
    into.push(reader.int32());
  }
}
