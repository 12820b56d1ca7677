import { type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { integerText, isNumberText, LongNumber } from "./long-number.ts";

/** What protobuf-es would take for something else than was written. */
class Inexact extends Error {}

const NOT_FINITE = /^(?:NaN|-?Infinity)$/;
/** With its padding or without; protobuf-es skips what it does not know, and what is too much. */
const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/;
const INTEGER_KEY = /^[+-]?[0-9]+$/;

/** The scalars of which protobuf-es takes no text that stands for nothing. */
const STRICT: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.BOOL]);
const FLOATING: ReadonlySet<ScalarType> = new Set([ScalarType.FLOAT, ScalarType.DOUBLE]);

/** Whether the JSON of a scalar must be looked at. */
export function isLooseScalar(scalar: ScalarType): boolean {
  return !STRICT.has(scalar);
}

/**
 * The JSON of a scalar, exact: an integer becomes its digits, however it was written,
 * since a number could be another id; and text that is no number, or no base64, is refused.
 *
 * @throws Error where it stands for nothing
 */
export function exactScalar(scalar: ScalarType, json: JsonValue): JsonValue {
  const isText = typeof json === "string";
  if (STRICT.has(scalar) || !(isText || json instanceof LongNumber)) return plainNumber(json);
  if (scalar === ScalarType.BYTES) return isText && !isBase64(json) ? refuse() : plainNumber(json);
  if (!FLOATING.has(scalar)) return integerText(isText ? json : json.text) ?? refuse();
  return isText && !isNumberText(json) && !NOT_FINITE.test(json) ? refuse() : plainNumber(json);
}

/** Checks the key of a map: protobuf-es takes `1.0` and `1e0` for 1. */
export function checkMapKey(scalar: ScalarType, key: string): void {
  if (!STRICT.has(scalar) && !INTEGER_KEY.test(key)) refuse();
}

/** Whether text is bytes in base64, of either alphabet. */
export function isBase64(text: string): boolean {
  const padding = BASE64.exec(text)?.[1];
  if (padding === undefined) return false;
  return padding === "" ? text.length % 4 !== 1 : text.length % 4 === 0;
}

/** A number as JavaScript has it; all else as it is. */
export function plainNumber(json: JsonValue): JsonValue {
  return json instanceof LongNumber ? Number(json.text) : json;
}

/** @throws Error always */
export function refuse(): never {
  throw new Inexact("the JSON stands for nothing");
}
