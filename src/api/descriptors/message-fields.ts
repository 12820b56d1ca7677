import type { FieldKind } from "../field.ts";
import { eachField, type FieldReader, type VisitField, WireType } from "./wire.ts";

/** `google.protobuf.FieldDescriptorProto.Type` by number. */
export const KINDS: readonly (FieldKind | undefined)[] = [
  undefined,
  "double",
  "float",
  "int64",
  "uint64",
  "int32",
  "fixed64",
  "fixed32",
  "bool",
  "string",
  // A group is a message with another encoding.
  "message",
  "message",
  "bytes",
  "uint32",
  "enum",
  "sfixed32",
  "sfixed64",
  "sint32",
  "sint64",
];

const LABEL_REPEATED = 3;
/** The number of `DescriptorProto.field`. */
const FIELD = 2;
/** The number of `debug_redact` in `google.protobuf.FieldOptions`. */
const DEBUG_REDACT = 16;

/** A field of a message. */
export interface Field {
  readonly kind: FieldKind;
  readonly repeated: boolean;
  /** The full name of the enum or message. */
  readonly type?: string;
  /** Whether its option `debug_redact` is set. */
  readonly isRedacted: boolean;
}

/** The number of searches in the bytes of a message, beyond which all its fields are decoded. */
const MAX_SEARCHES = 4;
/** Text whose bytes can be compared. */
const ASCII = /^[\x00-\x7f]*$/;

/**
 * The fields of a message by name. Options name one or two fields of most messages, so these are searched in
 * the encoded message, and the others are not decoded.
 */
export class MessageFields {
  /** The encoded `DescriptorProto`. */
  readonly #bytes: Uint8Array;
  #searches = 0;
  #all: ReadonlyMap<string, Field> | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get(name: string): Field | undefined {
    if (this.#all !== undefined || this.#searches === MAX_SEARCHES || !ASCII.test(name)) {
      return this.all().get(name);
    }
    this.#searches++;
    return findField(this.#bytes, name);
  }

  all(): ReadonlyMap<string, Field> {
    this.#all ??= readFields(this.#bytes);
    return this.#all;
  }
}

/** The last field of a name, as in a map of all fields. */
function findField(bytes: Uint8Array, name: string): Field | undefined {
  let found: Field | undefined;
  let isNamed = false;
  const compareName: VisitField = (number, wireType, reader) => {
    if (number !== 1 || wireType !== WireType.LengthDelimited) return false;
    isNamed = reader.isText(name);
    return true;
  };
  eachField(bytes, (number, wireType, reader) => {
    if (number !== FIELD || wireType !== WireType.LengthDelimited) return false;
    const start = reader.position;
    isNamed = false;
    reader.message(compareName);
    if (!isNamed) return true;
    reader.position = start;
    found = readField(reader).field ?? found;
    return true;
  });
  return found;
}

function readFields(bytes: Uint8Array): Map<string, Field> {
  const fields = new Map<string, Field>();
  eachField(bytes, (number, wireType, reader) => {
    if (number !== FIELD || wireType !== WireType.LengthDelimited) return false;
    const { name, field } = readField(reader);
    if (field !== undefined) fields.set(name, field);
    return true;
  });
  return fields;
}

/** Reads a field; it is undefined if its type is unknown. */
function readField(encoded: FieldReader): { name: string; field: Field | undefined } {
  let name = "";
  let label = 0;
  let kind: FieldKind | undefined;
  let type: string | undefined;
  let isRedacted = false;
  encoded.message((number, wireType, reader) => {
    if (number === 1 && wireType === WireType.LengthDelimited) name = reader.string();
    else if (number === 4 && wireType === WireType.Varint) label = reader.int32();
    else if (number === 5 && wireType === WireType.Varint) kind = KINDS[reader.int32()];
    else if (number === 6 && wireType === WireType.LengthDelimited) type = reader.string();
    else if (number === 8 && wireType === WireType.LengthDelimited) {
      reader.message((option, optionType, options) => {
        if (option !== DEBUG_REDACT || optionType !== WireType.Varint) return false;
        isRedacted = options.bool();
        return true;
      });
    } else return false;
    return true;
  });
  if (kind === undefined) return { name, field: undefined };
  const field: Field = { kind, repeated: label === LABEL_REPEATED, isRedacted };
  if (type === undefined) return { name, field };
  return { name, field: { ...field, type: type.startsWith(".") ? type.slice(1) : type } };
}
