import { type JsonValue, ScalarType } from "@bufbuild/protobuf";

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
 * since a number could be another id; and text that is not a number, or no base64, is refused.
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

/** A number of a body that a number of JavaScript would round to an integer, as it was written. */
export class LongNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
/** The largest integer of 64 bits has as many. */
const MAX_DIGITS = 20;

/** What JSON.parse tells of where a value stands. */
interface Source {
  readonly source?: string;
}

/** Parses JSON, of which numbers keep their digits where another integer would take their place. */
export function parseLongNumbers(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: Source): unknown => {
    // Of the others no field takes more than what they are.
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
 * The digits of a number that is an integer, however JSON writes it: `1.0` and `10e-1` are 1.
 *
 * @returns undefined where it is none, or has more digits than 64 bits hold
 */
function integerText(text: string): string | undefined {
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // How many zeros follow the digits; below nothing, how many digits stand after the point.
  const zeros = Number(exponent) - fraction.length;
  if (digits.length + zeros > MAX_DIGITS || digits.length + zeros < 1) return undefined;
  if (zeros >= 0) return sign + digits + "0".repeat(zeros);
  return /^0*$/.test(digits.slice(zeros)) ? sign + digits.slice(0, zeros) : undefined;
}
