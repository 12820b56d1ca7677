import { type SecretBox, UnsealError } from "../secrets/secret-box.ts";

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
const LONGEST = 512;

/**
 * The tokens of forms: a form is accepted only from the browser that it was shown in, as the form
 * that it is. Nothing is stored; replicas share the encryption key.
 */
export class FormTokens {
  readonly #box: SecretBox;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(box: SecretBox, now: () => number = Date.now) {
    this.#box = box;
    this.#now = now;
  }

  /** The token of a form that is about to be shown. */
  issue(place: FormPlace): string {
    return this.#box.seal(String(this.#now() + LASTS_MS), sealedPlace(place));
  }

  /** Whether a form that was sent has the token that it was shown with. */
  isValid(fields: URLSearchParams, place: FormPlace): boolean {
    const [token, ...more] = fields.getAll(FORM_TOKEN);
    if (token === undefined || more.length > 0 || token.length > LONGEST) return false;
    try {
      return Number(this.#box.open(token, sealedPlace(place))) > this.#now();
    } catch (error) {
      if (error instanceof UnsealError) return false;
      throw error;
    }
  }
}

function sealedPlace({ form, browser }: FormPlace) {
  return { table: "form", column: form, row: browser };
}
