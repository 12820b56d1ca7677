import { isAscii } from "node:buffer";
import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import {
  emptyMessageBytes,
  IndexedEntries,
  indexOf,
  memory,
  valueBytes,
} from "../wire/message-memory.ts";
import { LongNumber } from "./exact-scalar.ts";
import { fieldsByName, hasOwnJsonForm, isWrapperMessage } from "./field-names.ts";
import { isObject } from "./json-parts.ts";

/** The memory that a bytes field from JSON takes beside its bytes: these have their own buffer. */
const OWN_BYTES = 240;
/** An item of JSON without a message type. */
const PLAIN_ITEM = memory.ITEM + memory.NUMBER + memory.TEXT;
/** An object of JSON with few fields. */
const PLAIN_OBJECT = memory.MAP + 16;

/**
 * The memory of a message that is made from JSON, in bytes.
 *
 * @param body the bytes that the JSON was, which hold all its texts
 */
export function jsonWeight(message: DescMessage, json: JsonValue, body: Uint8Array): number {
  return textBytes(body) + messageWeight(message, json);
}

/** A text takes two bytes for each character where one of its characters needs them. */
function textBytes(body: Uint8Array): number {
  const isNarrow = isAscii(body) && !hasEscapes(body);
  return isNarrow ? body.length : 2 * body.length;
}

function hasEscapes({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes("\\u");
}

function messageWeight(message: DescMessage, json: JsonValue): number {
  if (hasOwnJsonForm(message)) return ownFormWeight(message, json);
  let weight = emptyMessageBytes(message);
  if (!isObject(json)) return weight;
  const fields = fieldsByName(message);
  for (const key in json) {
    const value = json[key] as JsonValue;
    const field = fields.get(key);
    if (field !== undefined) weight += fieldWeight(field, value);
    // An extension, which is kept encoded; or nothing that the message may have.
    else weight += memory.UNKNOWN + plainWeight(value);
  }
  return weight;
}

function fieldWeight(field: DescField, json: JsonValue): number {
  const { message } = field;
  const own = valueBytes(field) + (field.scalar === ScalarType.BYTES ? OWN_BYTES : 0);
  let weight = 0;
  if (field.fieldKind === "list") {
    if (!Array.isArray(json)) return own;
    weight = json.length === 0 ? 0 : memory.FIRST_ITEM + json.length * own;
    if (message !== undefined) for (const item of json) weight += messageWeight(message, item);
  } else if (field.fieldKind === "map") {
    if (!isObject(json)) return own;
    const entries = new IndexedEntries();
    for (const key in json) {
      weight += own + entries.add(indexOf(key));
      if (message !== undefined) weight += messageWeight(message, json[key] as JsonValue);
    }
  } else weight = own + (message === undefined ? 0 : messageWeight(message, json));
  return weight;
}

function ownFormWeight(message: DescMessage, json: JsonValue): number {
  const weight = emptyMessageBytes(message);
  switch (message.typeName) {
    case "google.protobuf.Value":
      return valueWeight(json);
    case "google.protobuf.Struct":
    case "google.protobuf.ListValue":
      // The message itself, and not the value that it could be.
      return weight + valueWeight(json);
    case "google.protobuf.FieldMask":
      return weight + memory.FIRST_ITEM + pathsOf(json) * (memory.ITEM + memory.TEXT);
    case "google.protobuf.Any":
      return weight + OWN_BYTES + memory.TEXT + plainWeight(json);
  }
  const value = isWrapperMessage(message) ? message.fields[0] : undefined;
  return weight + (value === undefined ? memory.BIGINT : fieldWeight(value, json));
}

/** A message for each value, with its oneof. */
const VALUE = 2 * memory.ONEOF + 64 + memory.TEXT;
/** The message for the items of a list or the fields of an object. */
const STRUCT = 128;

function valueWeight(json: JsonValue): number {
  if (json instanceof LongNumber || typeof json !== "object" || json === null) return VALUE;
  let weight = VALUE + STRUCT;
  if (Array.isArray(json)) {
    weight += memory.FIRST_ITEM;
    for (const item of json) weight += memory.ITEM + valueWeight(item);
    return weight;
  }
  const entries = new IndexedEntries();
  for (const key in json) {
    weight += memory.ENTRY + entries.add(indexOf(key)) + valueWeight(json[key] as JsonValue);
  }
  return weight;
}

/** JSON without a message type, which is kept as bytes or not at all. */
function plainWeight(json: JsonValue): number {
  if (json instanceof LongNumber || typeof json !== "object" || json === null) return PLAIN_ITEM;
  let weight = PLAIN_OBJECT;
  for (const key in json)
    weight += plainWeight((json as { [key: string]: JsonValue })[key] as JsonValue);
  return weight;
}

function pathsOf(json: JsonValue): number {
  return typeof json === "string" ? json.split(",").length : 0;
}
