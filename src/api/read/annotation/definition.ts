import { DescriptorError, type FileOutline } from "../../descriptors/file-outline.ts";
import { KINDS } from "../../descriptors/message-fields.ts";
import { MAX_NESTING } from "../../descriptors/message-outline.ts";
import { eachField, nameOf, WireType } from "../../descriptors/wire.ts";

/** The parts of a field that give the bytes of an option their meaning. */
export interface DefinedField {
  readonly name: string;
  readonly number: number;
  /** `optional`, `repeated`, `required`, `oneof kind`, or empty for a field without presence. */
  readonly label: string;
  /** The scalar type, or `message`, `group` or `enum` and the full name. */
  readonly type: string;
}

/** A message of the annotation. */
export interface DefinedMessage {
  readonly name: string;
  readonly syntax: string;
  readonly fields: readonly DefinedField[];
  /** The number of its extension ranges. */
  readonly extensionRanges: number;
}

/** An enum of the annotation. */
export interface DefinedEnum {
  readonly name: string;
  readonly syntax: string;
  readonly values: readonly (readonly [name: string, number: number])[];
}

/** An extension of an options message. */
export interface DefinedExtension {
  /** The file that declares it; empty in the genuine definition, which may be in any file. */
  readonly file: string;
  readonly extendee: string;
  /** Its `name` is the full name. */
  readonly field: DefinedField;
}

/** The definition of the annotation: its extension, and all messages and enums below it. */
export interface AnnotationDefinition {
  readonly extensions: readonly DefinedExtension[];
  readonly messages: readonly DefinedMessage[];
  readonly enums: readonly DefinedEnum[];
}

/** Reads a field. The name of an extension gets the `scope` as its prefix. */
export function readDefinedField(
  bytes: Uint8Array,
  oneofs: readonly string[],
  scope = "",
): { field: DefinedField; extendee: string } {
  const raw = { name: "", extendee: "", number: 0, label: 0, type: 0, typeName: "", oneof: -1 };
  let isProto3Optional = false;
  eachField(bytes, (number, wireType, reader) => {
    if (wireType === WireType.LengthDelimited) {
      if (number === 1) raw.name = reader.string();
      else if (number === 2) raw.extendee = withoutDot(reader.string());
      else if (number === 6) raw.typeName = withoutDot(reader.string());
      else return false;
      return true;
    }
    if (wireType !== WireType.Varint) return false;
    if (number === 3) raw.number = reader.int32();
    else if (number === 4) raw.label = reader.int32();
    else if (number === 5) raw.type = reader.int32();
    else if (number === 9) raw.oneof = reader.int32();
    else if (number === 17) isProto3Optional = reader.bool();
    else return false;
    return true;
  });
  const { name, extendee, number, typeName } = raw;
  // A field without the proto3 marker may be in a oneof that looks like a synthetic one.
  const oneof = raw.oneof < 0 ? undefined : (oneofs[raw.oneof] ?? `${raw.oneof}`);
  const isOptional = isProto3Optional && (oneof === undefined || oneof === `_${name}`);
  const label =
    LABELS[raw.label] ?? (isOptional ? "optional" : oneof === undefined ? "" : `oneof ${oneof}`);
  const kind = raw.type === GROUP ? "group" : (KINDS[raw.type] ?? `type ${raw.type}`);
  const type = typeName === "" ? kind : `${kind} ${typeName}`;
  return { field: { name: scope + name, number, label, type }, extendee };
}

const LABELS: readonly (string | undefined)[] = [undefined, undefined, "required", "repeated"];
const GROUP = 10;

/** Reads a message from its encoded descriptor. */
export function readDefinedMessage(bytes: Uint8Array, file: FileOutline): DefinedMessage {
  return readMessage(bytes, file, scopeOf(file)).message;
}

/** Reads an enum from its encoded descriptor. Its name gets the `scope` as its prefix. */
export function readDefinedEnum(
  bytes: Uint8Array,
  file: FileOutline,
  scope = scopeOf(file),
): DefinedEnum {
  const values: [string, number][] = [];
  eachField(bytes, (number, wireType, reader) => {
    if (number !== 2 || wireType !== WireType.LengthDelimited) return false;
    const value = reader.bytes();
    values.push([nameOf(value), numberOf(value)]);
    return true;
  });
  return { name: scope + nameOf(bytes), syntax: syntaxOf(file), values };
}

/** All messages and enums of a file, including nested ones. */
export interface DefinedTypes {
  readonly messages: readonly DefinedMessage[];
  readonly enums: readonly DefinedEnum[];
}

/** Reads all messages and enums of a file. */
export function readDefinedTypes(file: FileOutline): DefinedTypes {
  const messages: DefinedMessage[] = [];
  const enums: DefinedEnum[] = [];
  const add = (
    { messages: encoded, enums: encodedEnums }: EncodedTypes,
    scope: string,
    depth: number,
  ) => {
    if (depth > MAX_NESTING) {
      throw new DescriptorError(`the messages of ${file.name} nest too deep`);
    }
    for (const bytes of encodedEnums) enums.push(readDefinedEnum(bytes, file, scope));
    for (const bytes of encoded) {
      const { message, nested } = readMessage(bytes, file, scope);
      messages.push(message);
      add(nested, `${message.name}.`, depth + 1);
    }
  };
  const encoded = file.messages.map(({ bytes }) => bytes);
  add({ messages: encoded, enums: file.enums }, scopeOf(file), 0);
  return { messages, enums };
}

interface EncodedTypes {
  readonly messages: readonly Uint8Array[];
  readonly enums: readonly Uint8Array[];
}

function readMessage(
  bytes: Uint8Array,
  file: FileOutline,
  scope: string,
): { message: DefinedMessage; nested: EncodedTypes } {
  const encoded: Uint8Array[] = [];
  const messages: Uint8Array[] = [];
  const enums: Uint8Array[] = [];
  const oneofs: string[] = [];
  let extensionRanges = 0;
  eachField(bytes, (number, wireType, reader) => {
    if (wireType !== WireType.LengthDelimited) return false;
    if (number === 2) encoded.push(reader.bytes());
    else if (number === 3) messages.push(reader.bytes());
    else if (number === 4) enums.push(reader.bytes());
    else if (number === 8) oneofs.push(nameOf(reader.bytes()));
    else if (number === 5) {
      extensionRanges++;
      return false;
    } else return false;
    return true;
  });
  const fields = encoded.map((field) => readDefinedField(field, oneofs).field);
  const message = { name: scope + nameOf(bytes), syntax: syntaxOf(file), fields, extensionRanges };
  return { message, nested: { messages, enums } };
}

/** The number of an encoded `EnumValueDescriptorProto`. */
function numberOf(bytes: Uint8Array): number {
  let value = 0;
  eachField(bytes, (number, wireType, reader) => {
    if (number !== 2 || wireType !== WireType.Varint) return false;
    value = reader.int32();
    return true;
  });
  return value;
}

/** The prefix of the full names that a file declares. */
export function scopeOf({ package: name }: FileOutline): string {
  return name === "" ? "" : `${name}.`;
}

/** The syntax of a file, which decides on field presence and open enums. */
export function syntaxOf({ syntax }: FileOutline): string {
  return syntax === "" ? "proto2" : syntax;
}

function withoutDot(name: string): string {
  return name.startsWith(".") ? name.slice(1) : name;
}
