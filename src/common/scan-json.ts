/** Facts about the bytes of JSON, known before they are parsed. */
export interface JsonScan {
  /** Colons outside strings: one for each key. */
  readonly colons: number;
  /** Whether numbers may have more digits than a JavaScript number can store. */
  readonly hasLongNumbers: boolean;
  /** How deep brackets nest. */
  readonly depth: number;
}

/** Limits for JSON that is about to be parsed. */
export interface JsonBounds {
  /** Called with the number of new elements; throws if there are too many. */
  readonly takeElements: (count: number) => void;
  readonly maxDepth: number;
  /** Called when JSON nests deeper; throws. */
  readonly refuseDepth: () => never;
}

/** A JavaScript number always stores this many digits exactly. */
const EXACT_DIGITS = 15;
const QUOTE = 34;
const COMMA = 44;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const UPPER_E = 69;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const LOWER_E = 101;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;

/**
 * Scans UTF-8 bytes that may be JSON, and limits the cost of parsing them: a million brackets
 * take no more bytes than a picture. For bytes that are not JSON the result means nothing.
 *
 * Only this scan detects a key that occurs twice in an object: `JSON.parse` keeps the last one,
 * so the parsed value has fewer keys than there are colons.
 *
 * @throws the errors of the bounds
 */
export function scanJson(bytes: Uint8Array, bounds?: JsonBounds): JsonScan {
  let colons = 0;
  let digits = 0;
  let depth = 0;
  let deepest = 0;
  let hasLongNumbers = false;
  // The first element of a list or an object follows no comma.
  let isOpened = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte <= SPACE) {
      digits = 0;
      continue;
    }
    if (isOpened) {
      isOpened = false;
      if (byte !== CLOSE_LIST && byte !== CLOSE_OBJECT) bounds?.takeElements(1);
    }
    if (byte >= ZERO && byte <= NINE) {
      if (++digits > EXACT_DIGITS) hasLongNumbers = true;
      continue;
    }
    if (digits > 0) {
      if (byte === POINT) continue;
      if (byte === LOWER_E || byte === UPPER_E) hasLongNumbers = true;
      digits = 0;
    }
    switch (byte) {
      case QUOTE:
        index = endOfString(bytes, index);
        break;
      case COMMA:
        bounds?.takeElements(1);
        break;
      case COLON:
        colons++;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++depth > deepest) deepest = depth;
        if (bounds !== undefined && depth > bounds.maxDepth) bounds.refuseDepth();
        isOpened = true;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
    }
  }
  return { colons, hasLongNumbers, depth: deepest };
}

/** The end of a string, which may be unterminated. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) return index;
    index += byte === BACKSLASH ? 2 : 1;
  }
  return index;
}

/** The error of JSON with an object in which a key occurs twice. */
export class DuplicateKeyError extends SyntaxError {
  /** Which key it is, is not said: it comes from outside. */
  constructor() {
    super("a key occurs twice");
  }
}

/**
 * Parses JSON as `JSON.parse` does, and refuses objects in which a key occurs twice, at any depth: parsers
 * differ in which value they keep, so that a proxy may have checked another one.
 *
 * @throws DuplicateKeyError if a key occurs twice, SyntaxError if it is not JSON
 *
 * @example
 * ```ts
 * function read(body: string): unknown {
 *   try {
 *     return parseUniqueJson(body);
 *   } catch (error) {
 *     const problem = error instanceof DuplicateKeyError ? "has a key twice" : "is not JSON";
 *     throw new ServiceError("INVALID_ARGUMENT", `the body ${problem}`);
 *   }
 * }
 * ```
 */
export function parseUniqueJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (scanJson(Buffer.from(text)).colons !== countKeys(value)) throw new DuplicateKeyError();
  return value;
}

/** Without recursion: the nesting of a token is limited only by its length. */
function countKeys(value: unknown): number {
  const rest = [value];
  let keys = 0;
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== "object" || next === null) continue;
    const items = Object.values(next);
    if (!Array.isArray(next)) keys += items.length;
    for (const item of items) rest.push(item);
  }
  return keys;
}
