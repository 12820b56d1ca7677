import type { DescField, DescMessage, JsonValue, Registry } from "@bufbuild/protobuf";
import { shown } from "../error/service-error.ts";
import { LongNumber } from "./exact-scalar.ts";
import { fieldsByName, hasOwnJsonForm } from "./field-names.ts";

export type JsonObject = { [key: string]: JsonValue };

/** How many parts are checked at once. */
export const MANY = 128;

/** A field of a message in JSON. */
export interface JsonPart {
  /** How many fields come before it. */
  readonly index: number;
  readonly key: string;
  readonly value: JsonValue;
  /** Undefined for an extension. */
  readonly field: DescField | undefined;
  readonly path: string;
  /** The keys of a map; reading them from a large object again is slow. */
  readonly keys: readonly string[];
}

/** The parts of the JSON of a message. */
export interface JsonParts {
  /** Parts that are checked as a whole: without fields of their own, and with few items. */
  readonly leaves: readonly JsonPart[];
  /**
   * Parts that are entered: messages with fields of their own, lists and maps of them, and long
   * lists and maps.
   */
  readonly inner: readonly JsonPart[];
  /** A problem after all of these, regardless of the fields. */
  readonly problem: string | undefined;
}

/** Splits the JSON of a message at a path into its parts, up to the first invalid one. */
export function jsonParts(
  message: DescMessage,
  json: JsonValue,
  path: string,
  registry: Registry,
): JsonParts {
  const leaves: JsonPart[] = [];
  const inner: JsonPart[] = [];
  const until = (problem: string | undefined): JsonParts => ({ leaves, inner, problem });
  if (!isObject(json)) return until(`${named(path)} must be an object`);
  const fields = fieldsByName(message);
  const given = new Map<string, string>();
  for (const [index, key] of Object.keys(json).entries()) {
    const value = json[key] as JsonValue;
    const field = fields.get(key);
    const at = path === "" ? key : `${path}.${key}`;
    const keys = field?.fieldKind === "map" && isObject(value) ? Object.keys(value) : [];
    const part = { index, key, value, field, path: at, keys };
    if (field === undefined) {
      if (!isExtensionOf(message, key, registry)) return until(`${named(at)} is not known`);
      leaves.push(part);
      continue;
    }
    const isAbsent = value === null && !takesNull(field);
    const name = field.oneof === undefined || isAbsent ? field.name : field.oneof.name;
    const other = given.get(name);
    if (other !== undefined) {
      return until(`${named(at)} and ${shown(other)} cannot both be given`);
    }
    given.set(name, key);
    if (value === null) continue;
    const form = formProblem(field, value);
    if (form !== undefined) return until(`${named(at)} ${form}`);
    (holdsFields(field) || isLong(part) ? inner : leaves).push(part);
  }
  return until(undefined);
}

/** Whether a field holds messages that have fields of their own. */
export function holdsFields({ message }: DescField): boolean {
  return message !== undefined && !hasOwnJsonForm(message);
}

/** The path of an entry of a map. */
export function entryPath(path: string, key: string): string {
  return `${path}[${JSON.stringify(key)}]`;
}

/** The name of a path in messages. */
export function named(path: string): string {
  return path === "" ? "the body" : `the field ${shown(path)}`;
}

function isLong({ field, value, keys }: JsonPart): boolean {
  if (field?.fieldKind === "list") return (value as JsonValue[]).length > MANY;
  return keys.length > MANY;
}

function formProblem({ fieldKind }: DescField, value: JsonValue): string | undefined {
  if (fieldKind === "list" && !Array.isArray(value)) return "must be a list";
  if (fieldKind === "map" && !isObject(value)) return "must be an object";
  return undefined;
}

/** Whether null is a value of a field, and not its absence. */
function takesNull(field: DescField): boolean {
  const type = field.enum ?? field.message;
  return (
    type?.typeName === "google.protobuf.NullValue" || type?.typeName === "google.protobuf.Value"
  );
}

function isExtensionOf({ typeName }: DescMessage, key: string, registry: Registry): boolean {
  if (!key.startsWith("[") || !key.endsWith("]")) return false;
  return registry.getExtension(key.slice(1, -1))?.extendee.typeName === typeName;
}

/** Whether a value of a body is a JSON object. */
export function isObject(json: JsonValue): json is JsonObject {
  if (json instanceof LongNumber) return false;
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
