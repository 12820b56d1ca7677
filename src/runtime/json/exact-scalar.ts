import { type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** A value that protobuf-es would misread. */
class Inexact extends Error {}

const NOT_FINITE = /^(?:NaN|-?Infinity)$/;
/** With or without padding; protobuf-es ignores unknown characters and excess padding. */
const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/;
const INTEGER_KEY = /^[+-]?[0-9]+$/;

/** The scalars for which protobuf-es accepts no invalid text. */
const STRICT: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.BOOL]);
const FLOATING: ReadonlySet<ScalarType> = new Set([ScalarType.FLOAT, ScalarType.DOUBLE]);

/** Whether the JSON of a scalar must be checked. */
export function isLooseScalar(scalar: ScalarType): boolean {
  return !STRICT.has(scalar);
}

/**
 * The exact JSON of a scalar: an integer becomes its digits, regardless of its notation, since a
 * rounded number could be another id; text that is not a number, or not base64, is refused.
 *
 * @throws Error if it is not a valid value
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

/** A JavaScript number; other values are unchanged. */
export function plainNumber(json: JsonValue): JsonValue {
  return json instanceof LongNumber ? Number(json.text) : json;
}

/** @throws Error always */
export function refuse(): never {
  throw new Inexact("the JSON is not a value of the type");
}

/** A number of a body, as written, that JavaScript would round to an integer. */
export class LongNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
/** The largest 64-bit integer has this many digits. */
const MAX_DIGITS = 20;

/** The position of a value, from JSON.parse. */
interface Source {
  readonly source?: string;
}

/** Parses JSON; numbers keep their digits if they would otherwise become another integer. */
export function parseLongNumbers(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: Source): unknown => {
    // For the others the JavaScript number is exact enough for every field.
    if (!Number.isInteger(value)) return value;
    const source = context?.source;
    if (source === undefined) return value;
    const isExact = Number.isSafeInteger(value) && integerText(source) !== undefined;
    return isExact ? value : new LongNumber(source);
  };
  return JSON.parse(text, keep);
}

/** Whether a text is a number as JSON writes it. */
function isNumberText(text: string): boolean {
  return NUMBER.test(text);
}

/**
 * The digits of an integer in any JSON notation: `1.0` and `10e-1` are 1.
 *
 * @returns undefined if it is not a number, or has more digits than 64 bits hold
 */
function integerText(text: string): string | undefined {
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // How many zeros follow the digits; if negative, how many digits follow the point.
  const zeros = Number(exponent) - fraction.length;
  if (digits.length + zeros > MAX_DIGITS || digits.length + zeros < 1) return undefined;
  if (zeros >= 0) return sign + digits + "0".repeat(zeros);
  return /^0*$/.test(digits.slice(zeros)) ? sign + digits.slice(0, zeros) : undefined;
}
