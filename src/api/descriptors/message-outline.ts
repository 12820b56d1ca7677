import { type FieldReader, type VisitField, WireType } from "./wire.ts";

/** A message of a file, still encoded. */
export interface MessageOutline {
  /** The name without the package. */
  readonly name: string;
  /** The encoded `DescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Whether extensions are declared in it, or in a message in it; hardly any message declares some. */
  readonly declaresExtensions: boolean;
}

/** How deep messages may nest; protoc rejects deeper nesting itself. */
export const MAX_NESTING = 100;
/** The numbers of fields of `DescriptorProto`. */
export const NESTED_TYPE = 3;
export const EXTENSION = 6;

/**
 * Reads the outlines of messages. A large tree has tens of thousands, so each is read once for all that an
 * outline has.
 */
export class MessageOutlineReader {
  /** Whether a message nests too deep for recursive functions. */
  nestsTooDeep = false;
  #name = "";
  #declaresExtensions = false;
  #depth = 0;

  /** Reads the next message. */
  read(reader: FieldReader): MessageOutline {
    this.#name = "";
    this.#declaresExtensions = false;
    const start = reader.position;
    reader.message(this.#visit);
    reader.position = start;
    const bytes = reader.bytes();
    return { name: this.#name, bytes, declaresExtensions: this.#declaresExtensions };
  }

  readonly #visit: VisitField = (field, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (field === 1 && this.#depth === 0) {
      this.#name = reader.string();
      return true;
    }
    if (field === EXTENSION) this.#declaresExtensions = true;
    if (field !== NESTED_TYPE) return false;
    if (this.#depth === MAX_NESTING) {
      this.nestsTooDeep = true;
      return false;
    }
    this.#depth++;
    reader.message(this.#visit);
    this.#depth--;
    return true;
  };
}
