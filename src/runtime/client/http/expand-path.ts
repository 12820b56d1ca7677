import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import type { HttpRoute, HttpRouteVariable } from "../../binding/service-binding.ts";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../json/field-names.ts";
import { jsonValueOf } from "./json-options.ts";

/**
 * Fills the variables of a path from the JSON form of a request, and removes them from it. Values
 * that do not fit a segment are an error: an empty value, `.` and `..`.
 */
export function expandPath(
  route: HttpRoute,
  input: DescMessage,
  json: JsonObject,
): string | ServiceError {
  const segments: string[] = [];
  const taken: (() => void)[] = [];
  let at = 0;
  for (const variable of route.variables) {
    segments.push(...route.segments.slice(at, variable.start));
    const place = placeOf(variable.field, input, json);
    const values = segmentsOf(route, variable, place?.value);
    if (values === undefined) {
      return new ServiceError(
        "INVALID_ARGUMENT",
        `the field ${variable.field} does not fit into the path ${route.path}`,
      );
    }
    segments.push(...values.map(encodeURIComponent));
    if (place !== undefined) taken.push(place.take);
    at = variable.end;
  }
  for (const take of taken) take();
  segments.push(...route.segments.slice(at));
  return `/${segments.join("/")}${route.verb === undefined ? "" : `:${route.verb}`}`;
}

/** The values of the segments that a variable binds; undefined if they do not fit. */
function segmentsOf(
  { segments }: HttpRoute,
  { start, end }: HttpRouteVariable,
  value: JsonValue | undefined,
): string[] | undefined {
  if (value === undefined || value === null || typeof value === "object") return undefined;
  const text = String(value);
  const pattern = segments.slice(start, end);
  const single = pattern.length === 1 && pattern[0] !== "**";
  const parts = single ? [text] : text.split("/");
  const isOpen = pattern.at(-1) === "**";
  const fixed = isOpen ? pattern.length - 1 : pattern.length;
  if (isOpen ? parts.length < fixed : parts.length !== fixed) return undefined;
  const fits = parts.every((part, index) => {
    if (part === "" || part === "." || part === "..") return false;
    const wanted = pattern[index] ?? "**";
    return wanted === "*" || wanted === "**" || wanted === part;
  });
  return fits ? parts : undefined;
}

/** Where the JSON form has a field, and how it is taken out. */
function placeOf(
  path: string,
  input: DescMessage,
  json: JsonObject,
): { value: JsonValue; take: () => void } | undefined {
  let message = input;
  let object = json;
  const ways: [owner: JsonObject, jsonName: string][] = [];
  const names = path.split(".");
  for (const [index, name] of names.entries()) {
    const field = fieldsByName(message).get(name);
    if (field === undefined) throw new Error(`${message.typeName} has no field "${name}"`);
    const value = jsonValueOf(object, field);
    ways.push([object, field.jsonName]);
    if (index === names.length - 1) {
      const present = value ?? defaultOf(field);
      if (present === undefined) return undefined;
      return { value: inPath(field, present), take: () => takeOut(ways) };
    }
    if (field.fieldKind !== "message" || typeof value !== "object" || value === null)
      return undefined;
    message = field.message;
    object = value as JsonObject;
  }
  return undefined;
}

/**
 * Bytes without slashes, which some servers and proxies treat as segment separators even when
 * encoded.
 */
function inPath({ fieldKind, scalar }: DescField, value: JsonValue): JsonValue {
  if (fieldKind !== "scalar" || scalar !== ScalarType.BYTES || typeof value !== "string") {
    return value;
  }
  return value.replaceAll("+", "-").replaceAll("/", "_");
}

/** Removes a field, and messages that had nothing else: the path sets those too. */
function takeOut(ways: readonly (readonly [owner: JsonObject, jsonName: string])[]): void {
  for (const [owner, jsonName] of ways.toReversed()) {
    delete owner[jsonName];
    if (Object.keys(owner).length > 0) return;
  }
}

/** The value that an absent field means; undefined if a path cannot hold that, or would make it present. */
function defaultOf(field: DescField): JsonValue | undefined {
  if (field.presence !== Presence.IMPLICIT) return undefined;
  if (field.fieldKind === "enum") return field.enum.value[0]?.name;
  if (field.fieldKind !== "scalar") return undefined;
  if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return undefined;
  return field.scalar === ScalarType.BOOL ? false : 0;
}

/**
 * The query of the fields that neither the path nor the body contains: fields by their JSON names,
 * with dots for nested messages, lists by repetition, and empty messages by an empty value.
 *
 * @throws ServiceError INVALID_ARGUMENT for maps and lists of messages, which a query cannot
 * contain
 */
export function queryOf(input: DescMessage, json: JsonObject): string {
  const parameters: string[] = [];
  collect(parameters, "", input, json);
  return parameters.join("&");
}

function collect(parameters: string[], prefix: string, message: DescMessage, json: JsonObject) {
  const add = (name: string, text: string) =>
    parameters.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
  let known = 0;
  for (const field of message.fields) {
    const value = jsonValueOf(json, field);
    if (value === undefined) continue;
    known++;
    const name = prefix + nameOf(message, field);
    if (field.fieldKind === "message" && !hasOwnJsonForm(field.message)) {
      const before = parameters.length;
      collect(parameters, `${name}.`, field.message, value as JsonObject);
      if (parameters.length === before) add(name, "");
    } else {
      for (const each of field.fieldKind === "list" ? (value as JsonValue[]) : [value]) {
        add(name, textOf(field, name, each));
      }
    }
  }
  // Extensions have no name that a query could give.
  if (known === Object.keys(json).length) return;
  throw unfit(prefix + (Object.keys(json).find((key) => key.startsWith("[")) ?? "[…]"));
}

/** The JSON name, unless it has a dot or is the protobuf name of another field. */
function nameOf(message: DescMessage, field: DescField): string {
  const { name, jsonName } = field;
  return !jsonName.includes(".") && fieldsByName(message).get(jsonName) === field ? jsonName : name;
}

function textOf(field: DescField, name: string, value: JsonValue): string {
  if (value === null && field.enum !== undefined) return "NULL_VALUE";
  if (field.fieldKind === "map" || typeof value === "object") throw unfit(name);
  return String(value);
}

function unfit(name: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the field ${name} cannot be sent in a query`);
}
