import { nearest } from "../../diagnostics/nearest.ts";
import type { FieldKind, FieldLookup } from "../field.ts";
import { DescriptorError, type FileOutline } from "./file-outline.ts";
import { eachField, type FieldReader, NESTED_TYPE, nameOf, WireType } from "./wire.ts";

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
/** The number of `debug_redact` in `google.protobuf.FieldOptions`. */
const DEBUG_REDACT = 16;

interface Field {
  readonly kind: FieldKind;
  readonly repeated: boolean;
  /** The full name of the enum or message. */
  readonly type?: string;
  /** Whether its option `debug_redact` is set. */
  readonly isRedacted: boolean;
}

interface IndexedMessage {
  readonly bytes: Uint8Array;
  readonly file: FileOutline;
  /** Whether its nested messages are indexed, too. */
  hasNested: boolean;
}

/**
 * The second stage of reading: the fields of messages, decoded only for the messages
 * that an option names.
 */
export class MessageIndex {
  readonly #files = new Map<string, FileOutline[]>();
  readonly #indexed = new Set<string>();
  readonly #messages = new Map<string, IndexedMessage>();
  readonly #fields = new Map<string, ReadonlyMap<string, Field>>();

  constructor(files: Iterable<FileOutline>) {
    for (const file of files) {
      const siblings = this.#files.get(file.package);
      if (siblings === undefined) this.#files.set(file.package, [file]);
      else siblings.push(file);
    }
  }

  /** Follows a dotted field path from a message. */
  lookup(message: string, path: string): FieldLookup {
    const segments = path.split(".");
    let type = message;
    for (const [index, segment] of segments.entries()) {
      const fields = this.#fieldsOf(type);
      if (fields === undefined) return { status: "no_message", message: type };
      const field = fields.get(segment);
      if (field === undefined) {
        const suggestion = nearest(segment, fields.keys());
        const unknown = { status: "unknown", segment, message: type } as const;
        return suggestion === undefined ? unknown : { ...unknown, suggestion };
      }
      const { kind, repeated, type: inner } = field;
      if (index === segments.length - 1) {
        return { status: "found", kind, repeated, ...(inner === undefined ? {} : { type: inner }) };
      }
      if (kind !== "message" || repeated || inner === undefined) {
        return { status: "not_a_message", segment, kind, repeated };
      }
      type = inner;
    }
    return { status: "no_message", message };
  }

  /**
   * Whether a message has a field with `debug_redact`, at any depth; true also where a part of it cannot be
   * known. What an Any may hold, and extensions, are not looked at.
   */
  holdsRedacted(message: string): boolean {
    const types = new Set([message]);
    // Those that are added are gone through, too.
    for (const type of types) {
      if (this.#find(type)?.file.conflict !== undefined) return true;
      const fields = this.#fieldsOf(type);
      if (fields === undefined) return true;
      for (const { isRedacted, kind, type: inner } of fields.values()) {
        if (isRedacted) return true;
        if (kind === "message" && inner !== undefined) types.add(inner);
      }
    }
    return false;
  }

  /** The file that declares a message. */
  fileOf(message: string): FileOutline | undefined {
    return this.#messageOf(message)?.file;
  }

  #fieldsOf(message: string): ReadonlyMap<string, Field> | undefined {
    const known = this.#fields.get(message);
    if (known !== undefined) return known;
    const found = this.#messageOf(message);
    if (found === undefined) return undefined;
    const fields = readFields(found.bytes);
    this.#fields.set(message, fields);
    return fields;
  }

  #messageOf(message: string): IndexedMessage | undefined {
    const found = this.#find(message);
    if (found?.file.conflict !== undefined) throw new DescriptorError(found.file.conflict);
    return found;
  }

  /** A full name does not show where the package ends, so the longest matching package is tried first. */
  #find(message: string): IndexedMessage | undefined {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    let end = message.length;
    do {
      end = message.lastIndexOf(".", end - 1);
      const packageName = end < 0 ? "" : message.slice(0, end);
      const files = this.#files.get(packageName);
      if (files === undefined) continue;
      const prefix = packageName === "" ? "" : `${packageName}.`;
      this.#indexPackage(packageName, prefix, files);
      const dot = message.indexOf(".", prefix.length);
      if (dot > 0) this.#indexNested(message.slice(0, dot));
      const found = this.#messages.get(message);
      if (found !== undefined) return found;
    } while (end > 0);
    return undefined;
  }

  #indexPackage(name: string, prefix: string, files: readonly FileOutline[]): void {
    if (this.#indexed.has(name)) return;
    this.#indexed.add(name);
    for (const file of files) {
      for (const bytes of file.messages) {
        this.#messages.set(prefix + nameOf(bytes), { bytes, file, hasNested: false });
      }
    }
  }

  /** Nested messages are rarely looked up, so they are indexed late. The reader of outlines limits their nesting. */
  #indexNested(name: string): void {
    const message = this.#messages.get(name);
    if (message === undefined || message.hasNested) return;
    message.hasNested = true;
    const { bytes, file } = message;
    eachField(bytes, (field, wireType, reader) => {
      if (field !== NESTED_TYPE || wireType !== WireType.LengthDelimited) return false;
      const nested = reader.bytes();
      const nestedName = `${name}.${nameOf(nested)}`;
      this.#messages.set(nestedName, { bytes: nested, file, hasNested: false });
      this.#indexNested(nestedName);
      return true;
    });
  }
}

function readFields(bytes: Uint8Array): Map<string, Field> {
  const fields = new Map<string, Field>();
  eachField(bytes, (number, wireType, reader) => {
    if (number !== 2 || wireType !== WireType.LengthDelimited) return false;
    readField(reader, fields);
    return true;
  });
  return fields;
}

function readField(encoded: FieldReader, into: Map<string, Field>): void {
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
  if (kind === undefined) return;
  const field: Field = { kind, repeated: label === LABEL_REPEATED, isRedacted };
  if (type === undefined) into.set(name, field);
  else into.set(name, { ...field, type: type.startsWith(".") ? type.slice(1) : type });
}
