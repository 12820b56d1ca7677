import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  mergeFromJson,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { ServiceError } from "../error/service-error.ts";
import { ElementBudget, type ElementLimits } from "./element-budget.ts";
import { exactMessage, type JsonReading } from "./exact-json.ts";
import { fieldText } from "./field-text.ts";
import {
  entryPath,
  holdsFields,
  type JsonObject,
  type JsonPart,
  jsonParts,
  MANY,
  named,
} from "./json-parts.ts";

/** How often a part is tried at most: with its message, among its fields, among its items, alone. */
const TRIES = 4;

/**
 * Describes why a JSON value is not a message, with the path of the field as sent. Only called
 * after decoding has failed: protobuf-es names the message but not the path to it, in an error that
 * is not for callers. Parts without fields of their own are tried many at a time, and by bisection
 * if these fail; messages are entered. So each part is tried a few times at most, at any depth.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE if it has too many elements
 */
export function describeJsonProblem(
  message: DescMessage,
  json: JsonValue,
  registry: Registry,
  limits: ElementLimits,
): string {
  const search = new Search({ registry, elements: new ElementBudget(limits, TRIES) });
  return search.message(message, json, "") ?? "the body does not match the fields of the request";
}

class Search {
  readonly #reading: JsonReading;

  constructor(reading: JsonReading) {
    this.#reading = reading;
  }

  /**
   * The problem of a message at a path: the first invalid part as sent; undefined if there is none.
   */
  message(message: DescMessage, json: JsonValue, path: string): string | undefined {
    const { leaves, inner, problem } = jsonParts(message, json, path, this.#reading.registry);
    const wrong = firstWrong(leaves, (some) => this.#fails(message, objectOf(some)));
    for (const part of inner) {
      if (wrong !== undefined && part.index > wrong.index) break;
      const found = this.#inside(part);
      if (found !== undefined) return found;
    }
    if (wrong === undefined) return problem;
    const kind = wrong.field?.fieldKind;
    const hasItems = kind === "list" || kind === "map";
    return hasItems ? this.#wrongItem(wrong) : isNot(wrong.field, wrong.path);
  }

  /** Of a part that is entered. */
  #inside(part: JsonPart): string | undefined {
    const { field, value, path, keys } = part;
    const message = field?.message;
    if (field === undefined || message === undefined || !holdsFields(field)) {
      return this.#wrongItem(part);
    }
    if (field.fieldKind === "message") return this.message(message, value, path);
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        const found = this.message(message, item, `${path}[${index}]`);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const map = value as JsonObject;
    const wrongKey = this.#wrongKey(field, part);
    for (const name of keys) {
      const at = entryPath(path, name);
      const found = this.message(message, map[name] as JsonValue, at);
      if (found !== undefined) return found;
      if (name === wrongKey) return isNot(field, at);
    }
    return undefined;
  }

  /** The first invalid key of a map of messages. */
  #wrongKey(field: DescField, { key, keys }: JsonPart): string | undefined {
    if (field.fieldKind !== "map" || field.mapKey === ScalarType.STRING) return undefined;
    return firstWrong(keys, (some) => {
      const empty = Object.fromEntries(some.map((name) => [name, {}]));
      return this.#fails(field.parent, { [key]: empty });
    });
  }

  /** The first invalid item of a list or a map. */
  #wrongItem({ field, key, value, path, keys }: JsonPart): string | undefined {
    const message = field?.parent;
    if (message === undefined) return undefined;
    if (field?.fieldKind === "list") {
      const items = (value as JsonValue[]).map((item, index) => ({ item, index }));
      const wrong = firstWrong(items, (some) =>
        this.#fails(message, { [key]: some.map(({ item }) => item) }),
      );
      return wrong && isNot(field, `${path}[${wrong.index}]`);
    }
    if (field?.fieldKind !== "map") return undefined;
    const map = value as JsonObject;
    const wrong = firstWrong(keys, (some) => this.#fails(message, { [key]: pick(map, some) }));
    return wrong === undefined ? undefined : isNot(field, entryPath(path, wrong));
  }

  #fails(message: DescMessage, json: JsonObject): boolean {
    const reading = this.#reading;
    try {
      const { registry } = reading;
      mergeFromJson(message, create(message), exactMessage(message, json, reading), { registry });
      return false;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      return true;
    }
  }
}

/**
 * The first invalid part, found by checking many at a time, and by bisection if these fail.
 *
 * @param fail whether any of these is wrong
 */
function firstWrong<Thing>(
  things: readonly Thing[],
  fail: (some: readonly Thing[]) => boolean,
): Thing | undefined {
  for (let start = 0; start < things.length; start += MANY) {
    let some = things.slice(start, start + MANY);
    if (!fail(some)) continue;
    while (some.length > 1) {
      const half = some.slice(0, some.length >>> 1);
      some = fail(half) ? half : some.slice(half.length);
    }
    // Two may be invalid only in combination.
    if (things.length === 1 || fail(some)) return some[0];
  }
  return undefined;
}

function objectOf(parts: readonly JsonPart[]): JsonObject {
  return Object.fromEntries(parts.map(({ key, value }) => [key, value]));
}

function pick(map: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, map[key] as JsonValue]));
}

function isNot(field: DescField | undefined, path: string): string {
  const expected = field === undefined ? undefined : fieldText(field)?.expected;
  return `${named(path)} ${expected === undefined ? "is not valid" : `must be ${expected}`}`;
}
