import { isUuid, PageTokens } from "../rpc/page-tokens.ts";

/** The page tokens of lists of service accounts, by their ids. */
export const SERVICE_ACCOUNT_PAGES = new PageTokens("service-accounts", isUuid);
