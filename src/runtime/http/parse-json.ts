import { isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "./invalid-argument.ts";

/** What protobuf-es reads, too; deeper ones only cost. */
const MAX_DEPTH = 100;
const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Parses a body as JSON, and refuses what two readers may understand in two ways:
 * a key that occurs twice in an object, of which `JSON.parse` keeps the last one, and
 * `__proto__`.
 *
 * @throws ServiceError INVALID_ARGUMENT; it does not quote the body, which may hold secrets
 */
export function parseJson(bytes: Buffer): JsonValue {
  if (!isUtf8(bytes)) throw invalidArgument("the body is not valid UTF-8");
  const text = bytes.toString("utf8");
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw invalidArgument("the body is not valid JSON");
  }
  // Cheaper than to compare keys: each key has one colon outside of strings.
  if (typeof value === "object" && value !== null && countColons(text) !== countKeys(value, 1)) {
    throw invalidArgument("the body has an object in which a key occurs twice");
  }
  return value;
}

function countKeys(value: JsonValue, depth: number): number {
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

/** Of text that is known to be JSON. */
function countColons(text: string): number {
  let colons = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === COLON) colons++;
    else if (code === QUOTE) index = endOfString(text, index);
  }
  return colons;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
}
