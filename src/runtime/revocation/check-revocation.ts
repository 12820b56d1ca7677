import { isSubjectId } from "../authn/identity/identity-text.ts";
import { MAX_ID_LENGTH, MAX_TIME, type Revocation } from "./revocation.ts";

/**
 * Checks a revocation before it is stored anywhere: each watcher would refuse it, and with it all tokens.
 *
 * @throws TypeError if it is not valid
 */
export function checkRevocation(revocation: Revocation): void {
  const times = [revocation.keepUntil];
  if ("subject" in revocation) {
    const { type, id, issuedUntil } = revocation.subject;
    times.push(issuedUntil);
    if ((type !== "user" && type !== "service_account") || !isSubjectId(id)) {
      throw new TypeError("the subject of a revocation is not valid");
    }
  } else {
    const id = "sessionId" in revocation ? revocation.sessionId : revocation.tokenId;
    if (typeof id !== "string" || id === "" || id.length > MAX_ID_LENGTH) {
      throw new TypeError(`the id of a revocation must have 1 to ${MAX_ID_LENGTH} characters`);
    }
  }
  if (!times.every((time) => time >= 0 && time <= MAX_TIME)) {
    throw new TypeError("the times of a revocation must be milliseconds since the epoch");
  }
}
