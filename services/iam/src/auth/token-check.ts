import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TokenVerifier } from "svc-access/runtime";
import type { VerifyTokenResponseSchema } from "../../gen/svc/iam/v1/auth_pb.ts";

/** Says whose a token is, by the rules that this service accepts tokens by itself. */
export class TokenCheck {
  readonly #verifier: TokenVerifier;

  constructor(verifier: TokenVerifier) {
    this.#verifier = verifier;
  }

  /**
   * Verifies an access token; one that is not valid is an answer.
   *
   * @throws ServiceError UNAVAILABLE where the provider's keys cannot be had
   */
  async verify(token: string): Promise<MessageInitShape<typeof VerifyTokenResponseSchema>> {
    const result = await this.#verifier.verify(token);
    if (!result.active) return { active: false, reason: result.reason };
    const { principal, issuer, audiences, tokenId, issuedAt, expiresAt } = result;
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
      tokenId: tokenId ?? "",
      issueTime: timestampFromMs(issuedAt),
      expireTime: timestampFromMs(expiresAt),
    };
  }
}
