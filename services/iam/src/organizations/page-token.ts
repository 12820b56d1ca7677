import { ServiceError } from "svc-access/runtime";
import { organizationIdProblem } from "./organization-id.ts";

const PREFIX = "organizations.1.";
const LONGEST = 512;

/** The token of the page after an organization. */
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
  if (isOurs && organizationIdProblem(id) === undefined) return id;
  throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
}
