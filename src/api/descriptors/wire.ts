import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

export { WireType };

/**
 * Reads the value of a field and returns true, or returns false to skip it.
 *
 * @param reader - positioned at the value
 */
export type VisitField = (field: number, wireType: WireType, reader: FieldReader) => boolean;

/**
 * Visits each field of an encoded message. Most bytes of a large image are skipped.
 *
 * @throws RangeError or Error if the bytes are not a message.
 */
export function eachField(bytes: Uint8Array, visit: VisitField): void {
  new FieldReader(bytes).visitAll(visit);
}

const MAX_TAG_BYTES = 5;

/**
 * Reads values of an encoded message, and of nested messages in place: an image of thousands of files
 * contains hundreds of thousands of messages, and a `BinaryReader` for each, with its view of the
 * bytes, takes longer than reading them.
 */
export class FieldReader {
  readonly source: Uint8Array;
  /** The offset of the next value in `source`. */
  position = 0;
  /** The offset of the end of the message. */
  #end: number;

  constructor(source: Uint8Array) {
    this.source = source;
    this.#end = source.length;
  }

  /** Reads a message and visits each of its fields. */
  message(visit: VisitField): void {
    const end = this.#endOfValue();
    const outer = this.#end;
    this.#end = end;
    this.visitAll(visit);
    this.#end = outer;
  }

  /** Skips a message, a string or bytes. */
  pass(): void {
    this.position = this.#endOfValue();
  }

  /** Visits each field from the position on. */
  visitAll(visit: VisitField): void {
    while (this.position < this.#end) {
      const tag = this.#tag();
      const wireType: WireType = tag & 7;
      if (!visit(tag >>> 3, wireType, this)) this.#passField(tag >>> 3, wireType);
      if (this.position > this.#end) throw pastTheEnd();
    }
  }

  uint32(): number {
    const { source } = this;
    // After the last byte comes a 0, and the position is past the end.
    let byte = source[this.position++] ?? 0;
    let value = byte & 0x7f;
    // A negative number takes ten bytes, of which five hold its lower half.
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift >= 70) throw new Error("a number has more than ten bytes");
      byte = source[this.position++] ?? 0;
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    if (this.position > this.#end) throw pastTheEnd();
    return value >>> 0;
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    const { source } = this;
    const start = this.position;
    this.uint32();
    for (let at = start; at < this.position; at++) {
      if (((source[at] as number) & 0x7f) !== 0) return true;
    }
    return false;
  }

  string(): string {
    const end = this.#endOfValue();
    const { source, position } = this;
    this.position = end;
    return textOf(source, position, end);
  }

  /** Reads a string, and says whether it is this ASCII text. */
  isText(text: string): boolean {
    const end = this.#endOfValue();
    const { source, position } = this;
    this.position = end;
    if (end - position !== text.length) return false;
    for (let at = 0; at < text.length; at++) {
      if (source[position + at] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  bytes(): Uint8Array {
    const end = this.#endOfValue();
    const value = this.source.subarray(this.position, end);
    this.position = end;
    return value;
  }

  /**
   * Reads the next entry, packed or not, of a repeated int32 field after the numbers that were read before.
   * Numbers that exceed the space are counted only.
   *
   * @param count - how many were read before
   * @returns how many have been read now
   */
  int32s(wireType: WireType, into: Int32Array, count: number): number {
    let total = count;
    if (wireType !== WireType.LengthDelimited) {
      into[total++] = this.uint32();
      return total;
    }
    const end = this.#endOfValue();
    while (this.position < end) into[total++] = this.uint32();
    return total;
  }

  #endOfValue(): number {
    const length = this.uint32();
    const end = this.position + length;
    if (end > this.#end) throw pastTheEnd();
    return end;
  }

  #tag(): number {
    const start = this.position;
    const tag = this.uint32();
    const length = this.position - start;
    // A tag is a number of 32 bits; five bytes can hold 35.
    const isTooLarge =
      length > MAX_TAG_BYTES ||
      (length === MAX_TAG_BYTES && (this.source[this.position - 1] as number) > 0x0f);
    if (isTooLarge || tag < 8 || (tag & 7) > WireType.Bit32) {
      throw new Error(`illegal tag: field no ${tag >>> 3} wire type ${tag & 7}`);
    }
    return tag;
  }

  #passField(field: number, wireType: WireType): void {
    if (wireType === WireType.LengthDelimited) this.pass();
    else if (wireType === WireType.Varint) this.uint32();
    else {
      // Groups are rare, and the library limits their nesting.
      const reader = new BinaryReader(this.source);
      reader.pos = this.position;
      reader.skip(wireType, field);
      this.position = reader.pos;
    }
  }
}

/** A view of the memory that was read last: making one for each text takes longer than decoding it. */
let memory = Buffer.alloc(0);

/** Decodes text as protobuf does: a byte order mark is part of the text. */
function textOf(source: Uint8Array, start: number, end: number): string {
  const { buffer, byteOffset } = source;
  if (memory.buffer !== buffer) memory = Buffer.from(buffer as ArrayBuffer);
  return memory.toString("utf8", byteOffset + start, byteOffset + end);
}

function pastTheEnd(): RangeError {
  return new RangeError("a field ends past its message");
}

/**
 * The same bytes as a plain `Uint8Array`: slices of a Node.js Buffer are slower to make.
 */
export function plainBytes({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Joins several occurrences of a message: protobuf merges them, and the concatenation of encoded
 * messages is their merge.
 */
export function joined(occurrences: readonly Uint8Array[]): Uint8Array {
  const [first] = occurrences;
  return first !== undefined && occurrences.length === 1 ? first : Buffer.concat(occurrences);
}

/** The name of an encoded descriptor of any kind: field 1. */
export function nameOf(bytes: Uint8Array): string {
  let name = "";
  eachField(bytes, (number, wireType, reader) => {
    if (number !== 1 || wireType !== WireType.LengthDelimited) return false;
    name = reader.string();
    return true;
  });
  return name;
}
