import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TokenVerifier } from "svc-access/runtime";
import type { VerifyTokenResponseSchema } from "../../../gen/svc/iam/v1/auth_pb.ts";
import type { IsRevoked } from "../../people/sessions/revocation.ts";

/** Says whose a token is, by the rules that this service accepts tokens by itself. */
export class TokenCheck {
  readonly #verifier: TokenVerifier;
  readonly #isRevoked: IsRevoked;

  /** @param isRevoked what the database says at this moment, whichever replica ended the token */
  constructor(verifier: TokenVerifier, isRevoked: IsRevoked) {
    this.#verifier = verifier;
    this.#isRevoked = isRevoked;
  }

  /**
   * Verifies an access token; one that is not valid is an answer.
   *
   * @throws ServiceError UNAVAILABLE where the provider's keys cannot be had
   */
  async verify(token: string): Promise<MessageInitShape<typeof VerifyTokenResponseSchema>> {
    const result = await this.#verifier.verify(token);
    if (!result.active) return { active: false, reason: result.reason };
    const { principal, issuer, audiences, tokenId = "", sessionId = "", issuedAt } = result;
    const identity = { jti: tokenId, sid: sessionId, sub: principal.subjectId };
    const { subjectType } = principal;
    if (await this.#isRevoked({ ...identity, subjectType, iat: Math.floor(issuedAt / 1000) })) {
      return { active: false, reason: "revoked" };
    }
    const { subjectId, username, name, email, organizationId, source } = principal;
    return {
      active: true,
      principal: {
        subjectId,
        username,
        name,
        email,
        organizationId,
        groups: [...principal.groups],
        roles: [...principal.roles],
        scopes: [...principal.scopes],
        source,
      },
      issuer,
      audiences: [...audiences],
      tokenId,
      issueTime: timestampFromMs(issuedAt),
      expireTime: timestampFromMs(result.expiresAt),
      sessionId,
    };
  }
}
