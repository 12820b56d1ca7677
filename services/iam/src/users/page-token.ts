import { ServiceError } from "svc-access/runtime";
import type { Account } from "../accounts/account.ts";
import { usernameKey } from "../accounts/username.ts";
import { isStorable } from "../store/storable-text.ts";

const PREFIX = "users.1.";
const LONGEST = 1024;

/** The token of the page after a user. */
export function writePageToken({ username }: Pick<Account, "username">): string {
  return pageTokenAfter(usernameKey(username));
}

/** The token of the page after a normalized user name. */
export function pageTokenAfter(key: string): string {
  return PREFIX + Buffer.from(key).toString("base64url");
}

/**
 * The normalized user name after which a page begins; empty for the first.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not a token of `writePageToken`
 */
export function readPageToken(token: string): string {
  if (token === "") return "";
  const bytes = Buffer.from(token.slice(PREFIX.length), "base64url");
  const username = bytes.toString();
  const isOurs = token.length <= LONGEST && token === writePageToken({ username });
  if (!isOurs || username === "" || !isStorable(username)) {
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
  }
  return username;
}
