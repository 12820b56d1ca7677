import type {
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  JsonObject,
  JsonValue,
  Registry,
} from "@bufbuild/protobuf";
import { needsRegistry, registryOf } from "../../json/json-text.ts";

const NONE: { readonly registry?: Registry } = Object.freeze({});
const needy = new WeakMap<DescMessage, boolean>();
const byFile = new WeakMap<DescFile, { readonly registry: Registry }>();

/**
 * How protobuf-es reads and writes the JSON of a message of an RPC: if it may hold an Any
 * or extensions, with what those may be, which is all that the service's file knows.
 */
export function jsonOptions(
  { parent: { file } }: DescMethod,
  message: DescMessage,
): { readonly registry?: Registry } {
  let isNeedy = needy.get(message);
  if (isNeedy === undefined) needy.set(message, (isNeedy = needsRegistry(message)));
  if (!isNeedy) return NONE;
  let options = byFile.get(file);
  if (options === undefined) byFile.set(file, (options = { registry: registryOf([file]) }));
  return options;
}

/** A field in the JSON form of its message; a field may have the name of a property of every object. */
export function jsonValueOf(json: JsonObject, { jsonName }: DescField): JsonValue | undefined {
  return Object.hasOwn(json, jsonName) ? json[jsonName] : undefined;
}
