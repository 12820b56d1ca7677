import { ServiceError } from "svc-access/runtime";

const PREFIX = "service-accounts.1.";
const LONGEST = 512;

/** The token of the page after a service account. */
export function writePageToken(id: string): string {
  return PREFIX + Buffer.from(id).toString("base64url");
}

/**
 * The id after which a page begins; empty for the first.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not a token of `writePageToken`
 */
export function readPageToken(token: string): string {
  if (token === "") return "";
  const id = Buffer.from(token.slice(PREFIX.length), "base64url").toString();
  const isOurs = token.length <= LONGEST && token === writePageToken(id);
  // Ids are UUIDs, so PostgreSQL never gets what it refuses.
  if (isOurs && /^[0-9a-f-]{36}$/.test(id)) return id;
  throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
}
