import { ServiceError } from "svc-access/runtime";
import type { OutsideValues } from "../secrets/outside-values.ts";

const LONGEST = 16_384;
const AGAIN = "list again from the first page";

/** Who lists something. */
export interface ListCaller {
  readonly subjectType: string;
  readonly subjectId: string;
}

/**
 * The page tokens of one RPC for one caller. They are sealed: nobody makes one that continues at a state or a place
 * of their choice, and nobody reads where a list has stopped, which may be at something that the caller may not see.
 */
export class SealedTokens {
  readonly #values: OutsideValues;
  readonly #rpc: string;
  readonly #caller: ListCaller;

  /** @param rpc a name that no other RPC has */
  constructor(values: OutsideValues, rpc: string, caller: ListCaller) {
    this.#values = values;
    this.#rpc = rpc;
    this.#caller = caller;
  }

  /**
   * The token of a page.
   *
   * @param list what is listed; with another list the token cannot be used
   * @param position where the page begins
   */
  write(list: readonly string[], position: readonly string[]): string {
    return this.#values.seal(JSON.stringify(position), this.#placeOf(list));
  }

  /**
   * Where a page begins.
   *
   * @throws ServiceError INVALID_ARGUMENT where the token is not one of this list for this caller;
   * ABORTED where its key is missing here
   */
  read(list: readonly string[], token: string): readonly string[] {
    const isToken = token.length <= LONGEST;
    const text = isToken ? this.#values.open(token, this.#placeOf(list), AGAIN) : undefined;
    if (text !== undefined) return JSON.parse(text) as readonly string[];
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `page_token is not one that this list returned to this caller: ${AGAIN}`,
    );
  }

  #placeOf(list: readonly string[]) {
    const { subjectType, subjectId } = this.#caller;
    const row = JSON.stringify([subjectType, subjectId, ...list]);
    return { table: "page_token", column: this.#rpc, row };
  }
}
