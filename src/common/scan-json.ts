/** What the bytes of JSON say before they are parsed. */
export interface JsonScan {
  /** Colons outside of strings: each key has one. */
  readonly colons: number;
  /** Whether some numbers may have more digits than a number of JavaScript holds. */
  readonly hasLongNumbers: boolean;
}

/** What bounds JSON that is about to be parsed. */
export interface JsonBounds {
  /** Is called with elements as they are met; throws once they are too many. */
  readonly takeElements: (count: number) => void;
  readonly maxDepth: number;
  /** Is called where JSON is deeper; throws. */
  readonly refuseDepth: () => never;
}

/** As many digits a number of JavaScript always holds exactly. */
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
 * Looks at bytes that may be JSON, in UTF-8, and bounds what parsing them costs: a million of
 * brackets are as few bytes as one picture. Of bytes that are not JSON it says nothing that counts.
 *
 * A key that occurs twice in an object leaves a trace here alone: `JSON.parse` keeps the last one,
 * and the parsed value then has fewer keys than there are colons.
 *
 * @throws whatever the bounds throw
 */
export function scanJson(bytes: Uint8Array, bounds?: JsonBounds): JsonScan {
  let colons = 0;
  let digits = 0;
  let depth = 0;
  let hasLongNumbers = false;
  // The first element of a list or an object has no comma; one without elements has none at all.
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
        if (bounds !== undefined && ++depth > bounds.maxDepth) bounds.refuseDepth();
        isOpened = true;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
    }
  }
  return { colons, hasLongNumbers };
}

/** Where a string ends, or what begins as one. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) return index;
    index += byte === BACKSLASH ? 2 : 1;
  }
  return index;
}
