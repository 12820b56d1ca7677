import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../json/field-names.ts";
import { valueOf } from "./json-field.ts";

/**
 * The query of what neither the path nor the body holds: fields by their JSON names,
 * with dots into messages, lists by repetition, and messages that hold nothing by an
 * empty value.
 *
 * @throws ServiceError INVALID_ARGUMENT for what no query holds: maps and lists of messages
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
    const value = valueOf(json, field);
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
