/** An integer of a body that no number of JavaScript holds exactly, as it was written. */
export class LongInteger {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const INTEGER = /^-?[0-9]+$/;

/** What JSON.parse tells of where a value stands. */
interface Source {
  readonly source?: string;
}

/** Parses JSON, of which integers past 2^53 keep their digits. */
export function parseLongIntegers(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: Source): unknown => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && INTEGER.test(source) ? new LongInteger(source) : value;
  };
  return JSON.parse(text, keep);
}
