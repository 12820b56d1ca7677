import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../http/field-names.ts";

/**
 * The query of what neither the path nor the body holds: fields by their JSON names,
 * with dots into messages, lists by repetition.
 *
 * @throws ServiceError INVALID_ARGUMENT for what no query holds: maps and lists of messages
 */
export function queryOf(input: DescMessage, json: JsonObject): string {
  const parameters: string[] = [];
  collect(parameters, "", input, json);
  return parameters.join("&");
}

function collect(parameters: string[], prefix: string, message: DescMessage, json: JsonObject) {
  const fields = fieldsByName(message);
  for (const [jsonName, value] of Object.entries(json)) {
    const field = fields.get(jsonName);
    const name = prefix + jsonName;
    // Extensions and the like have no name that a query could give.
    if (field === undefined) throw unfit(name);
    if (field.fieldKind === "message" && !hasOwnJsonForm(field.message)) {
      collect(parameters, `${name}.`, field.message, value as JsonObject);
    } else {
      for (const each of field.fieldKind === "list" ? (value as JsonValue[]) : [value]) {
        parameters.push(
          `${encodeURIComponent(name)}=${encodeURIComponent(textOf(field, name, each))}`,
        );
      }
    }
  }
}

function textOf(field: DescField, name: string, value: JsonValue): string {
  if (field.fieldKind === "map" || typeof value === "object") throw unfit(name);
  return String(value);
}

function unfit(name: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the field ${name} cannot be sent in a query`);
}
