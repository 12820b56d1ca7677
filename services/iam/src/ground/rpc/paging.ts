import { ServiceError } from "svc-access/runtime";
import type { SealedTokens } from "./sealed-tokens.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * How many items a page has: what a request asks for, or 50.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function pageSizeOf({ pageSize }: { readonly pageSize: number }): number {
  if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
  }
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
}

/** The page tokens of one list of one caller: each holds the key of the last item of its page. */
export class PageTokens {
  readonly #tokens: SealedTokens;
  readonly #list: readonly string[];

  /** @param list what is listed besides the items of the RPC in general, such as those of an organization */
  constructor(tokens: SealedTokens, ...list: readonly string[]) {
    this.#tokens = tokens;
    this.#list = list;
  }

  /** The token of the page after an item. */
  after(key: string): string {
    return this.#tokens.write(this.#list, [key]);
  }

  /**
   * The key after which a page begins; empty for the first.
   *
   * @throws ServiceError INVALID_ARGUMENT where it is not a token of this list for this caller;
   * ABORTED where its key is missing here
   */
  read(token: string): string {
    if (token === "") return "";
    const [key = ""] = this.#tokens.read(this.#list, token);
    return key;
  }
}
