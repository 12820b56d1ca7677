import { nearest } from "../../diagnostics/nearest.ts";
import type { FieldLookup } from "../field.ts";
import { DescriptorError, type FileOutline } from "./file-outline.ts";
import { MessageFields } from "./message-fields.ts";
import { NESTED_TYPE } from "./message-outline.ts";
import { eachField, nameOf, WireType } from "./wire.ts";

/** The files of a package, and its messages once one of them is looked up. */
interface IndexedPackage {
  readonly files: FileOutline[];
  /** By their names in the package. */
  messages?: Map<string, IndexedMessage>;
}

interface IndexedMessage {
  readonly bytes: Uint8Array;
  readonly file: FileOutline;
  /** Absent before the first is looked up. */
  fields?: MessageFields;
  /** Whether its nested messages are indexed, too. */
  hasNested: boolean;
}

/**
 * The second stage of reading: the fields of messages, decoded only for the messages
 * that an option names.
 */
export class MessageIndex {
  readonly #packages = new Map<string, IndexedPackage>();
  /** The messages that were looked up, by full name. */
  readonly #known = new Map<string, IndexedMessage>();

  constructor(files: Iterable<FileOutline>) {
    for (const file of files) {
      const known = this.#packages.get(file.package);
      if (known === undefined) this.#packages.set(file.package, { files: [file] });
      else known.files.push(file);
    }
  }

  /** Follows a dotted field path from a message. */
  lookup(message: string, path: string): FieldLookup {
    let type = message;
    for (let start = 0; start <= path.length; ) {
      const dot = path.indexOf(".", start);
      const end = dot < 0 ? path.length : dot;
      const segment = path.slice(start, end);
      start = end + 1;
      const fields = this.#fieldsOf(type);
      if (fields === undefined) return { status: "no_message", message: type };
      const field = fields.get(segment);
      if (field === undefined) {
        const suggestion = nearest(segment, fields.all().keys());
        const unknown = { status: "unknown", segment, message: type } as const;
        return suggestion === undefined ? unknown : { ...unknown, suggestion };
      }
      const { kind, repeated, type: inner } = field;
      if (dot < 0) {
        const found = { status: "found", kind, repeated } as const;
        return inner === undefined ? found : { ...found, type: inner };
      }
      if (kind !== "message" || repeated || inner === undefined) {
        return { status: "not_a_message", segment, kind, repeated };
      }
      type = inner;
    }
    return { status: "no_message", message };
  }

  /**
   * Whether a message has a field with `debug_redact`, at any depth; true even if a part of it cannot be
   * known. The content of an Any, and extensions, are not searched.
   */
  holdsRedacted(message: string): boolean {
    const types = new Set([message]);
    // Those that are added are searched, too.
    for (const type of types) {
      if (this.#find(type)?.file.conflict !== undefined) return true;
      const fields = this.#fieldsOf(type);
      if (fields === undefined) return true;
      for (const { isRedacted, kind, type: inner } of fields.all().values()) {
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

  #fieldsOf(message: string): MessageFields | undefined {
    const found = this.#messageOf(message);
    if (found === undefined) return undefined;
    found.fields ??= new MessageFields(found.bytes);
    return found.fields;
  }

  #messageOf(message: string): IndexedMessage | undefined {
    const found = this.#find(message);
    if (found?.file.conflict !== undefined) throw new DescriptorError(found.file.conflict);
    return found;
  }

  /** A full name does not show where the package ends, so the longest matching package is tried first. */
  #find(message: string): IndexedMessage | undefined {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    let end = message.length;
    do {
      end = message.lastIndexOf(".", end - 1);
      const [packageName, name] =
        end > 0 ? [message.slice(0, end), message.slice(end + 1)] : ["", message];
      const indexed = this.#packages.get(packageName);
      const found = indexed === undefined ? undefined : findIn(indexed, name);
      if (found !== undefined) {
        this.#known.set(message, found);
        return found;
      }
    } while (end > 0);
    return undefined;
  }
}

/** @param name - the name without the package; of a nested message, with the names around it */
function findIn(indexed: IndexedPackage, name: string): IndexedMessage | undefined {
  indexed.messages ??= messagesOf(indexed.files);
  const dot = name.indexOf(".");
  if (dot > 0) indexNested(name.slice(0, dot), indexed.messages);
  return indexed.messages.get(name);
}

function messagesOf(files: readonly FileOutline[]): Map<string, IndexedMessage> {
  const messages = new Map<string, IndexedMessage>();
  for (const file of files) {
    for (const { name, bytes } of file.messages) {
      messages.set(name, { bytes, file, hasNested: false });
    }
  }
  return messages;
}

/** Nested messages are rarely looked up, so they are indexed late. The reader of outlines limits their nesting. */
function indexNested(name: string, messages: Map<string, IndexedMessage>): void {
  const message = messages.get(name);
  if (message === undefined || message.hasNested) return;
  message.hasNested = true;
  const { bytes, file } = message;
  eachField(bytes, (field, wireType, reader) => {
    if (field !== NESTED_TYPE || wireType !== WireType.LengthDelimited) return false;
    const nested = reader.bytes();
    const nestedName = `${name}.${nameOf(nested)}`;
    messages.set(nestedName, { bytes: nested, file, hasNested: false });
    indexNested(nestedName, messages);
    return true;
  });
}
