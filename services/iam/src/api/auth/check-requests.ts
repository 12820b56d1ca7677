import { ServiceError } from "svc-access/runtime";
import type { BuildLoginURLRequest } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { required } from "../../ground/rpc/request-fields.ts";

const LONGEST_STATE = 1024;
/** Printable ASCII: what may stand in a URL's query, escaped (RFC 6749, appendix A). */
const PRINTABLE = /^[\x20-\x7e]*$/;
/** The SHA-256 of a verifier in base64url (RFC 7636). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Checks the parameters of a login URL.
 *
 * @throws ServiceError INVALID_ARGUMENT with the first that is not valid
 */
export function assertLoginRequest(
  { redirectUri, state, codeChallenge, nonce }: BuildLoginURLRequest,
  redirectUris: ReadonlySet<string>,
): void {
  if (!redirectUris.has(required("redirect_uri", redirectUri))) {
    throw invalid("redirect_uri", "is not a registered one; they are compared exactly");
  }
  for (const [field, value] of [["state", state] as const, ["nonce", nonce] as const]) {
    if (value.length > LONGEST_STATE)
      throw invalid(field, `must have at most ${LONGEST_STATE} characters`);
    if (!PRINTABLE.test(value)) throw invalid(field, "must consist of printable ASCII characters");
  }
  if (codeChallenge !== "" && !CHALLENGE.test(codeChallenge)) {
    throw invalid(
      "code_challenge",
      "must be the SHA-256 of a PKCE verifier in base64url without padding (S256 of RFC 7636): leave it out to have a verifier made",
    );
  }
}

function invalid(field: string, problem: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `${field} ${problem}`);
}
