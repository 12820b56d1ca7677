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
export function isNumberText(text: string): boolean {
  return NUMBER.test(text);
}

/**
 * The digits of a number that is an integer, however JSON writes it: `1.0` and `10e-1` are 1.
 *
 * @returns undefined where it is none, or has more digits than 64 bits hold
 */
export function integerText(text: string): string | undefined {
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // How many zeros follow the digits; below nothing, how many digits stand behind the point.
  const zeros = Number(exponent) - fraction.length;
  if (digits.length + zeros > MAX_DIGITS || digits.length + zeros < 1) return undefined;
  if (zeros >= 0) return sign + digits + "0".repeat(zeros);
  return /^0*$/.test(digits.slice(zeros)) ? sign + digits.slice(0, zeros) : undefined;
}
