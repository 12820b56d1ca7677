import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  mergeFromJson,
  type Registry,
} from "@bufbuild/protobuf";
import { exactMessage } from "./exact-json.ts";
import { fieldsByName, hasOwnJsonForm } from "./field-names.ts";
import { fieldText } from "./field-text.ts";
import { shown } from "./invalid-argument.ts";

type JsonObject = { [key: string]: JsonValue };

/**
 * Says what of a JSON value is not of a message, by the path of the field as it was
 * sent. Only asked once decoding has failed: protobuf-es names the message and not
 * the way to it, in words that are not for callers. Each part is looked at once, so
 * that a wrong body costs no more than a right one.
 */
export function describeJsonProblem(
  message: DescMessage,
  json: JsonValue,
  registry: Registry,
): string {
  return (
    new Search(registry).message(message, json, "") ?? "the body does not fit the fields it is for"
  );
}

class Search {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** What is wrong with a message at a path; undefined where nothing is. */
  message(message: DescMessage, json: JsonValue, path: string): string | undefined {
    if (!isObject(json)) return `${named(path)} must be an object`;
    const fields = fieldsByName(message);
    const given = new Map<string, string>();
    for (const [key, value] of Object.entries(json)) {
      const field = fields.get(key);
      const at = path === "" ? key : `${path}.${key}`;
      if (field === undefined) {
        if (isExtensionOf(message, key, this.#registry)) {
          if (this.#fails(message, { [key]: value })) return `${named(at)} is not valid`;
          continue;
        }
        return `${named(at)} is not known`;
      }
      const isAbsent = value === null && !takesNull(field);
      const name = field.oneof === undefined || isAbsent ? field.name : field.oneof.name;
      const other = given.get(name);
      if (other !== undefined) return `${named(at)} and ${shown(other)} cannot both be given`;
      given.set(name, key);
      const problem = value === null ? undefined : this.#field(field, value, at);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #field(field: DescField, json: JsonValue, path: string): string | undefined {
    switch (field.fieldKind) {
      case "list":
        if (!Array.isArray(json)) return `${named(path)} must be a list`;
        return first(json, (item, index) => {
          const at = `${path}[${index}]`;
          return field.listKind === "message" && !hasOwnJsonForm(field.message)
            ? this.message(field.message, item, at)
            : this.#leaf(field, [item], at);
        });
      case "map":
        if (!isObject(json)) return `${named(path)} must be an object`;
        return first(Object.entries(json), ([key, item]) => {
          const at = `${path}[${JSON.stringify(key)}]`;
          if (field.mapKind !== "message" || hasOwnJsonForm(field.message)) {
            return this.#leaf(field, { [key]: item }, at);
          }
          return this.message(field.message, item, at) ?? this.#leaf(field, { [key]: {} }, at);
        });
      case "message":
        return hasOwnJsonForm(field.message)
          ? this.#leaf(field, json, path)
          : this.message(field.message, json, path);
      default:
        return this.#leaf(field, json, path);
    }
  }

  /** Tries a value that has no fields of its own. */
  #leaf(field: DescField, json: JsonValue, path: string): string | undefined {
    if (!this.#fails(field.parent, { [field.jsonName]: json })) return undefined;
    const expected = fieldText(field)?.expected;
    return `${named(path)} ${expected === undefined ? "is not valid" : `must be ${expected}`}`;
  }

  #fails(message: DescMessage, json: JsonObject): boolean {
    const registry = this.#registry;
    try {
      mergeFromJson(message, create(message), exactMessage(message, json, registry), { registry });
      return false;
    } catch {
      return true;
    }
  }
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

function first<Item>(
  items: readonly Item[],
  look: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = look(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function named(path: string): string {
  return path === "" ? "the body" : `the field ${shown(path)}`;
}
