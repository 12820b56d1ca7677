import type { OutsideValues } from "../ground/secrets/outside-values.ts";

/** The field of a form that has its token. */
export const FORM_TOKEN = "form_token";

/** A form, and what binds it to the browser that it was shown in. */
export interface FormPlace {
  /** The kind of form, such as `consent`. */
  readonly form: string;
  /** A value that no other browser has or may learn, such as the hash of its session's cookie. */
  readonly browser: string;
}

const LASTS_MS = 3_600_000;
const LONGEST = 4096;

/**
 * The tokens of forms: a form is accepted only from the browser that it was shown in, as the form
 * that it is. Nothing is stored; replicas share the encryption key.
 */
export class FormTokens {
  readonly #values: OutsideValues;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(values: OutsideValues, now: () => number = Date.now) {
    this.#values = values;
    this.#now = now;
  }

  /**
   * The token of a form that is about to be shown.
   *
   * @param data what the form brings back: nobody can read or change it
   */
  issue(place: FormPlace, data = ""): string {
    return this.#values.seal(JSON.stringify([this.#now() + LASTS_MS, data]), sealedPlace(place));
  }

  /**
   * Whether a form that was sent has the token that it was shown with.
   *
   * @throws ServiceError ABORTED if a key is missing here
   */
  isValid(fields: URLSearchParams, place: FormPlace): boolean {
    return this.dataOf(fields, place) !== undefined;
  }

  /**
   * What was sealed in the token of a form that was sent; undefined if it has no valid one.
   *
   * @param field the field with the token
   * @throws ServiceError ABORTED if a key is missing here
   */
  dataOf(fields: URLSearchParams, place: FormPlace, field = FORM_TOKEN): string | undefined {
    const [token, ...more] = fields.getAll(field);
    if (token === undefined || more.length > 0 || token.length > LONGEST) return undefined;
    const text = this.#values.open(token, sealedPlace(place));
    if (text === undefined) return undefined;
    const content: unknown = JSON.parse(text);
    // An earlier version sealed a number.
    if (!Array.isArray(content)) return undefined;
    const [expires, data] = content as [number, string];
    return expires > this.#now() ? data : undefined;
  }
}

function sealedPlace({ form, browser }: FormPlace) {
  return { table: "form", column: form, row: browser };
}
