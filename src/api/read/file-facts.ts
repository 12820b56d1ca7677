import type { FileOutline } from "./file-outline.ts";
import { eachField, type WireType as Type, WireType } from "./wire.ts";

/** What a file declares, one entry a declaration: what it is called, and what it says. */
export type FileFacts = ReadonlyMap<string, string>;

/** The messages and enums of a file, with the names and types of their fields, and their values. */
export function typeFacts(file: FileOutline): FileFacts {
  const facts = new Map<string, string>([["the package", file.package]]);
  const prefix = prefixOf(file);
  for (const bytes of file.messages) addMessage(facts, prefix, bytes, 0);
  for (const bytes of file.enums) addEnum(facts, prefix, bytes);
  return facts;
}

/** The services of a file and their RPCs, without their options. */
export function serviceFacts(file: FileOutline): FileFacts {
  const facts = new Map<string, string>();
  const prefix = prefixOf(file);
  for (const { name, methods } of file.services) {
    facts.set(`the service ${prefix}${name}`, "");
    for (const { name: method, request, response, stream } of methods) {
      facts.set(`${prefix}${name}/${method}`, `${request} to ${response}, ${stream}`);
    }
  }
  return facts;
}

/**
 * What one file says and another does not, or says in another way: the first of it; undefined where
 * the other holds it all.
 */
export function firstDifference(of: FileFacts, from: FileFacts): string | undefined {
  for (const [what, said] of of) {
    const other = from.get(what);
    if (other === undefined) return `only one has ${what}${said === "" ? "" : ` (${said})`}`;
    if (other !== said) {
      const [first, last] = [said, other].sort();
      return `${what} is "${first}" in one and "${last}" in the other`;
    }
  }
  return undefined;
}

function prefixOf({ package: name }: FileOutline): string {
  return name === "" ? "" : `${name}.`;
}

/** protoc refuses deeper nesting itself. */
const MAX_NESTING = 100;

function addMessage(
  facts: Map<string, string>,
  prefix: string,
  bytes: Uint8Array,
  depth: number,
): void {
  if (depth > MAX_NESTING) throw new Error("messages nest too deep");
  const { texts, messages } = readFields(bytes, [2, 3, 4]);
  const name = `${prefix}${texts.get(1) ?? ""}`;
  facts.set(`the message ${name}`, "");
  for (const field of messages.get(2) ?? []) {
    const { texts, numbers } = readFields(field, []);
    const type = texts.get(6) ?? `type ${numbers.get(5) ?? 0}`;
    const label = numbers.get(4) === LABEL_REPEATED ? "repeated " : "";
    facts.set(`field ${numbers.get(3) ?? 0} of ${name}`, `${label}${type} ${texts.get(1) ?? ""}`);
  }
  for (const nested of messages.get(3) ?? []) addMessage(facts, `${name}.`, nested, depth + 1);
  for (const nested of messages.get(4) ?? []) addEnum(facts, `${name}.`, nested);
}

const LABEL_REPEATED = 3;

function addEnum(facts: Map<string, string>, prefix: string, bytes: Uint8Array): void {
  const { texts, messages } = readFields(bytes, [2]);
  const name = `${prefix}${texts.get(1) ?? ""}`;
  facts.set(`the enum ${name}`, "");
  for (const value of messages.get(2) ?? []) {
    const { texts, numbers } = readFields(value, []);
    facts.set(`${texts.get(1) ?? ""} of ${name}`, `${numbers.get(2) ?? 0}`);
  }
}

/** The fields of an encoded descriptor: texts and numbers, and as bytes those that hold messages. */
function readFields(bytes: Uint8Array, messageFields: readonly number[]) {
  const texts = new Map<number, string>();
  const numbers = new Map<number, number>();
  const messages = new Map<number, Uint8Array[]>();
  eachField(bytes, (field: number, wireType: Type, reader) => {
    if (wireType === WireType.Varint) {
      numbers.set(field, reader.int32());
      return true;
    }
    if (wireType !== WireType.LengthDelimited) return false;
    if (messageFields.includes(field)) {
      const known = messages.get(field);
      if (known === undefined) messages.set(field, [reader.bytes()]);
      else known.push(reader.bytes());
      return true;
    }
    // The name, and of a field the name of its type.
    if (field !== 1 && field !== 6) return false;
    texts.set(field, reader.string());
    return true;
  });
  return { texts, numbers, messages };
}
