import { ServiceError } from "svc-access/runtime";

const LONGEST = 1024;

/**
 * The page tokens of one list: each holds the key of the last item of its page. They are not secret, and only
 * tokens of the same list are accepted.
 */
export class PageTokens {
  readonly #prefix: string;
  readonly #isKey: (text: string) => boolean;

  /**
   * @param list the name of the list, which no other list has
   * @param isKey whether a text may be the key of an item, so that the database never gets what it refuses
   */
  constructor(list: string, isKey: (text: string) => boolean) {
    this.#prefix = `${list}.1.`;
    this.#isKey = isKey;
  }

  /** The token of the page after an item. */
  after(key: string): string {
    return this.#prefix + Buffer.from(key).toString("base64url");
  }

  /**
   * The key after which a page begins; empty for the first.
   *
   * @throws ServiceError INVALID_ARGUMENT where it is not a token of this list
   */
  read(token: string): string {
    if (token === "") return "";
    const key = Buffer.from(token.slice(this.#prefix.length), "base64url").toString();
    if (token.length <= LONGEST && token === this.after(key) && this.#isKey(key)) return key;
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
  }
}

/** Whether a text is the id of a record, which is a UUID. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f-]{36}$/.test(text);
}
