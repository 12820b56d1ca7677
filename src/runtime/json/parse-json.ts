import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "./invalid-argument.ts";
import { parseLongNumbers } from "./long-number.ts";

/** What protobuf-es reads, too; deeper ones only cost. */
const MAX_DEPTH = 100;
/** As many digits a number of JavaScript always holds exactly. */
const EXACT_DIGITS = 15;
const QUOTE = 34;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const BACKSLASH = 92;
const POINT = 46;
const UPPER_E = 69;
const LOWER_E = 101;
/** Half a character, which may lack its other half: as an escape of JSON, and alone. */
const HALF_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_HALF = /\p{Surrogate}/u;

/** A body as JSON. */
export interface ParsedJson {
  readonly value: JsonValue;
  /** Whether some numbers in it may be `LongNumber`s, which must become what their field holds. */
  readonly hasLongNumbers: boolean;
}

/**
 * Parses a body as JSON, and refuses what two readers may understand in two ways:
 * a key that occurs twice in an object, of which `JSON.parse` keeps the last one,
 * `__proto__`, a number that is too large for any, and text that UTF-8 cannot hold.
 *
 * @throws ServiceError INVALID_ARGUMENT; it does not quote the body, which may hold secrets
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  if (!isUtf8(bytes)) throw invalidArgument("the body is not valid UTF-8");
  const text = textOf(bytes);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw invalidArgument("the body is not valid JSON");
  }
  const { colons, hasLongNumbers } = scan(text);
  // Cheaper than to compare keys: each key has one colon outside of strings.
  if (colons !== countKeys(value, 1)) {
    throw invalidArgument("the body has an object in which a key occurs twice");
  }
  if (HALF_ESCAPE.test(text) && !isUnicode(value)) {
    throw invalidArgument("the body has a text that is no Unicode");
  }
  if (hasLongNumbers) value = parseLongNumbers(text) as JsonValue;
  return { value, hasLongNumbers };
}

function textOf(bytes: Uint8Array): string {
  // `TextDecoder` would drop a byte order mark, which JSON does not have.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function countKeys(value: JsonValue, depth: number): number {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalidArgument("the body has a number that is too large");
  }
  if (typeof value !== "object" || value === null) return 0;
  if (depth > MAX_DEPTH) {
    throw invalidArgument(`the body is nested deeper than ${MAX_DEPTH} levels`);
  }
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item, depth + 1);
    return keys;
  }
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw invalidArgument('the body has a key "__proto__"');
    keys += 1 + countKeys(value[key] as JsonValue, depth + 1);
  }
  return keys;
}

function isUnicode(value: JsonValue): boolean {
  if (typeof value === "string") return !LONE_HALF.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isUnicode);
  return Object.entries(value).every(([key, item]) => !LONE_HALF.test(key) && isUnicode(item));
}

/** Of text that is known to be JSON. */
function scan(text: string): { colons: number; hasLongNumbers: boolean } {
  let colons = 0;
  let digits = 0;
  let hasLongNumbers = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= ZERO && code <= NINE) {
      if (++digits > EXACT_DIGITS) hasLongNumbers = true;
      continue;
    }
    if (digits > 0) {
      if (code === POINT) continue;
      if (code === LOWER_E || code === UPPER_E) hasLongNumbers = true;
      digits = 0;
    }
    if (code === COLON) colons++;
    else if (code === QUOTE) index = endOfString(text, index);
  }
  return { colons, hasLongNumbers };
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
}
