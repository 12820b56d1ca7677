import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import type { Caller } from "../../rights/caller-rights.ts";

/** Where a page begins: after something that was listed or looked at. */
export interface ListPosition {
  /** The resource of the last relationship, or the last one that has been read. */
  readonly resourceId: string;
  /** The last relationship of the resource; absent if all of them were listed. */
  readonly after?: string;
  /** Where the engine continues among the resources, before this one; absent: at the first one. */
  readonly lookup?: string;
  /** Where the engine continues among the relationships of the resource. */
  readonly cursor?: string;
  /** Whether it continues before `after`: what comes up to that was listed before. */
  readonly isSkipping?: boolean;
}

const SKIPS = "skips";

/** The page tokens of lists of relationships of one RPC for one caller, sealed. */
export class ListTokens {
  readonly #tokens: SealedTokens;

  constructor(values: OutsideValues, rpc: string, caller: Caller) {
    this.#tokens = new SealedTokens(values, rpc, caller);
  }

  /**
   * The token of a page.
   *
   * @param list what is listed; with another list the token cannot be used
   */
  write(list: readonly string[], position: ListPosition): string {
    const { resourceId, after = "", lookup = "", cursor = "", isSkipping = false } = position;
    const skips = isSkipping ? [SKIPS] : [];
    return this.#tokens.write(list, [resourceId, after, lookup, cursor, ...skips]);
  }

  /**
   * Where a page begins; undefined for the first.
   *
   * @throws ServiceError INVALID_ARGUMENT where the token is not one of this list for this caller;
   * ABORTED where its key is missing here
   */
  read(list: readonly string[], token: string): ListPosition | undefined {
    if (token === "") return undefined;
    const position = this.#tokens.read(list, token);
    const [resourceId = "", after = "", lookup = "", cursor = "", skips] = position;
    return {
      resourceId,
      ...(after === "" ? {} : { after }),
      ...(lookup === "" ? {} : { lookup }),
      ...(cursor === "" ? {} : { cursor }),
      ...(skips === SKIPS ? { isSkipping: true } : {}),
    };
  }
}
