import { decodeJwt } from "jose";
import {
  type Principal,
  type ProcessLogger,
  ServiceError,
  type TokenVerifier,
} from "svc-access/runtime";
import { Quota } from "../people/accounts/throttle/quota.ts";
import type { Revocations } from "../people/sessions/revocations.ts";
import type { Tokens } from "./identity-provider.ts";

/** What is needed to check the tokens of a provider outside this process. */
export interface IssuedTokensOptions {
  /** Verifies access tokens by the rules of `security.authn.oidc`. */
  readonly verifier: TokenVerifier;
  readonly revocations: Revocations;
  /** With the tables of the users. */
  readonly database: { readonly kysely: unknown };
  /** How much longer than its `exp` a token is accepted. */
  readonly clockSkewMs: number;
  readonly logger: Pick<ProcessLogger, "error">;
}

/** The clocks of services may differ from that of the replica that stores the revocation. */
const CLOCKS_APART_MS = 60_000;
const LONGEST_ID = 512;
/**
 * Of one subject. Replicas and services hold a number of revocations in memory, and refuse all tokens beyond it: somebody
 * who logs in and out without end must not get there alone.
 */
const LIMIT = { purpose: "revocations of foreign tokens", most: 20, spanMs: 600_000 } as const;

type QuotaDatabase = ConstructorParameters<typeof Quota>[0];
/**
 * In the last days of the year 9999. A feed takes no time after that year, and is not current while it
 * has not taken all.
 */
const LAST_MS = Date.UTC(9999, 11, 25);

/** What became of a token that was to be ended. */
export type Ending =
  /** Services refuse it from now on. */
  | { readonly outcome: "ended"; readonly id: string }
  /** It is not valid, or not a JWT: no service accepts it. */
  | { readonly outcome: "not_valid" }
  /** It is valid, and has no id by which it could be refused. */
  | { readonly outcome: "without_id"; readonly isAccessToken: boolean };

/** The access and refresh tokens of a provider that has no way to end them at services. */
export class IssuedTokens {
  readonly #options: IssuedTokensOptions;
  readonly #quota: Quota;

  constructor(options: IssuedTokensOptions) {
    this.#options = options;
    this.#quota = new Quota(options.database.kysely as QuotaDatabase, LIMIT);
  }

  /**
   * Checks tokens before they are given to anybody: services would accept the access token, and the ID
   * token is of the same subject.
   *
   * @throws ServiceError INVALID_ARGUMENT for a user of an organization that is not accepted;
   * UNAVAILABLE where the provider issues what is not valid
   */
  async check({ accessToken, idToken }: Tokens): Promise<void> {
    const result = await this.#options.verifier.verify(accessToken);
    if (!result.active && result.reason === "wrong_owner") {
      throw new ServiceError("INVALID_ARGUMENT", "the user's organization is not accepted", {
        details: { error: "access_denied" },
      });
    }
    const problem = result.active
      ? idToken !== "" && claimsOf(idToken).sub !== result.principal.subjectId
        ? "the ID token is of another subject"
        : undefined
      : result.reason;
    if (problem === undefined) return;
    this.#options.logger.error(
      { problem },
      "an access token of the identity provider is not accepted",
    );
    throw new ServiceError("UNAVAILABLE", "the identity provider does not answer");
  }

  /**
   * Ends a token at all services: those with its id (`jti`) are refused from now on.
   *
   * @returns its id; undefined for a token that is not valid, which has ended
   * @throws ServiceError FAILED_PRECONDITION for a token without an id
   */
  async end(token: string): Promise<string | undefined> {
    const ending = await this.tryEnd(token);
    if (ending.outcome === "without_id") {
      throw new ServiceError("FAILED_PRECONDITION", "the token has no id: it cannot be ended");
    }
    return ending.outcome === "ended" ? ending.id : undefined;
  }

  /**
   * Ends a token at all services, if it is valid and has an id. Where a subject ends too many, all its tokens of before
   * end at once, so that they take one place among the revocations.
   *
   * @throws ServiceError UNAVAILABLE where the keys of the provider cannot be read
   */
  async tryEnd(token: string): Promise<Ending> {
    const { verifier, revocations, clockSkewMs } = this.#options;
    const result = await verifier.verify(token);
    // The signature, issuer and audience of a refresh token are verified before its kind.
    if (!result.active && result.reason !== "not_an_access_token") {
      return { outcome: "not_valid" };
    }
    const { jti, exp, sub } = claimsOf(token);
    if (typeof exp !== "number" || exp * 1000 + clockSkewMs <= Date.now())
      return { outcome: "not_valid" };
    if (typeof jti !== "string" || jti === "" || jti.length > LONGEST_ID) {
      return { outcome: "without_id", isAccessToken: result.active };
    }
    const keepUntil = Math.min(Math.ceil(exp * 1000) + clockSkewMs + CLOCKS_APART_MS, LAST_MS);
    const subject = typeof sub === "string" ? sub : "";
    // Who repeats a revocation takes no other place: that of the token is kept until it expires.
    if (await this.#isRevoked(jti)) return { outcome: "ended", id: jti };
    const isOver = subject !== "" && (await this.#quota.use(subject)) !== undefined;
    const subjectType = result.active ? typeOf(result.principal) : "user";
    await revocations.revoke(
      isOver
        ? { kind: "subject", value: subject, subjectType, keepUntil }
        : { kind: "jti", value: jti, keepUntil },
    );
    return { outcome: "ended", id: jti };
  }

  /**
   * Refuses a refresh token that has ended here, also where the provider could not be reached.
   *
   * @throws ServiceError INVALID_ARGUMENT, as for one that the provider does not accept
   */
  async assertNotEnded(refreshToken: string): Promise<void> {
    if (await this.#isEnded(refreshToken)) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        "the identity provider does not accept the code or token",
        { details: { error: "invalid_grant" } },
      );
    }
  }

  /** Whether a token was ended by its id or its subject; also of one that is not verified. */
  async #isEnded(token: string): Promise<boolean> {
    const { jti, sub, iat } = claimsOf(token);
    if (typeof jti !== "string" || jti === "" || jti.length > LONGEST_ID) return false;
    const subject = typeof sub === "string" ? sub : "";
    return this.#isRevoked(jti, subject, typeof iat === "number" ? iat : 0);
  }

  /** Whether a token is among the revocations: by its id alone where no subject is named. */
  async #isRevoked(jti: string, sub = "", iat = 0): Promise<boolean> {
    const token = { jti, sid: "", sub, subjectType: "user", iat };
    return this.#options.revocations.isRevoked(token);
  }
}

function typeOf({ subjectType }: Pick<Principal, "subjectType">): "user" | "service_account" {
  return subjectType === "service_account" ? "service_account" : "user";
}

/** The claims of a token, unverified; none where it is not a JWT. */
function claimsOf(token: string): Record<string, unknown> {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
