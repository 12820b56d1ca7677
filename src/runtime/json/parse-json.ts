import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { scanJson } from "../../common/scan-json.ts";
import { invalidArgument } from "../error/service-error.ts";
import type { ElementBudget } from "./element-budget.ts";
import { LongNumber, parseLongNumbers } from "./exact-scalar.ts";

/** A surrogate that may lack its other half: as a JSON escape, and literally. */
const HALF_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_HALF = /\p{Surrogate}/u;
/** Deeper JSON is a message that is too deep, and only costs time. */
const MAX_DEPTH = 100;

/** A body as JSON. */
export interface ParsedJson {
  readonly value: JsonValue;
  /** Whether some numbers in it may be `LongNumber`s, which must become what their field holds. */
  readonly hasLongNumbers: boolean;
  /** How deep its brackets nest. */
  readonly depth: number;
}

/**
 * Parses a body as JSON, and refuses what two parsers may interpret differently: a key that occurs
 * twice in an object, of which `JSON.parse` keeps the last one, `__proto__`, a number that is too
 * large for any, and text that UTF-8 cannot hold.
 *
 * @throws ServiceError INVALID_ARGUMENT, or PAYLOAD_TOO_LARGE if it has more elements than it may;
 *   neither quotes the body, which may hold secrets
 */
export function parseJson(bytes: Uint8Array, elements: ElementBudget): ParsedJson {
  if (!isUtf8(bytes)) throw invalidArgument("the body is not valid UTF-8");
  // Before parsing, which costs most.
  const { colons, hasLongNumbers, depth } = scanJson(bytes, {
    takeElements: (count) => elements.take(count),
    maxDepth: MAX_DEPTH,
    refuseDepth,
  });
  const text = textOf(bytes);
  let value: JsonValue;
  try {
    value = (hasLongNumbers ? parseLongNumbers(text) : JSON.parse(text)) as JsonValue;
  } catch {
    throw invalidArgument("the body is not valid JSON");
  }
  // Cheaper than comparing keys: each key has one colon outside of strings.
  if (colons !== countKeys(value)) {
    throw invalidArgument("the body has an object in which a key occurs twice");
  }
  if (HALF_ESCAPE.test(text) && !isUnicode(value)) {
    throw invalidArgument("the body has a text that is not Unicode");
  }
  return { value, hasLongNumbers, depth };
}

function refuseDepth(): never {
  throw invalidArgument(`the body is nested deeper than ${MAX_DEPTH} levels`);
}

function textOf(bytes: Uint8Array): string {
  // `TextDecoder` would drop a byte order mark, which JSON does not have.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function countKeys(value: JsonValue): number {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalidArgument("the body has a number that is too large");
  }
  if (typeof value !== "object" || value === null || value instanceof LongNumber) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw invalidArgument('the body has a key "__proto__"');
    keys += 1 + countKeys(value[key] as JsonValue);
  }
  return keys;
}

function isUnicode(value: JsonValue): boolean {
  if (typeof value === "string") return !LONE_HALF.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isUnicode);
  return Object.entries(value).every(([key, item]) => !LONE_HALF.test(key) && isUnicode(item));
}
