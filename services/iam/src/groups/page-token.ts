import { isUuid, PageTokens } from "../rpc/page-tokens.ts";

/** The page tokens of lists of groups, by their ids. */
export const GROUP_PAGES = new PageTokens("groups", isUuid);
