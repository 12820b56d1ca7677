import { usernameKey } from "../accounts/username.ts";
import { PageTokens } from "../rpc/page-tokens.ts";
import { isStorable } from "../store/storable-text.ts";

/** The page tokens of lists of users, by their normalized user names. */
export const USER_PAGES = new PageTokens(
  "users",
  (name) => name !== "" && usernameKey(name) === name && isStorable(name),
);
