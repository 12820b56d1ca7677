import { DatabaseError } from "svc-access/database";
import {
  type AuthenticationRequest,
  type Authenticator,
  type Identity,
  type Principal,
  type ProcessLogger,
  ServiceError,
  type TokenVerifier,
} from "svc-access/runtime";
import { MissingKeyError, UnsealError } from "../../ground/secrets/secret-box.ts";
import type { BrowserSessions, SessionSubject } from "./browser-sessions.ts";
import { cookieOf, SESSION_COOKIE } from "./cookies.ts";
import type { FreshTokens } from "./fresh-tokens.ts";
import { explainMissingKey, sessionIsOver, unreadableSession } from "./session-errors.ts";

/** What the authenticator needs. */
export interface SessionAuthenticatorOptions {
  readonly sessions: BrowserSessions;
  readonly fresh: FreshTokens;
  /** Says whose the session's access token is; a revoked one ends the session. */
  readonly verifier: TokenVerifier;
  readonly logger: Pick<ProcessLogger, "error">;
}

/**
 * Identifies callers by the session cookie of a browser: they are whom the access token of the
 * session names, so that its revocation ends both.
 */
export class SessionAuthenticator implements Authenticator {
  readonly name = "browser_session";
  readonly #options: SessionAuthenticatorOptions;

  constructor(options: SessionAuthenticatorOptions) {
    this.#options = options;
  }

  async authenticate({ headers }: AuthenticationRequest): Promise<Identity | undefined> {
    const cookie = cookieOf(headers, SESSION_COOKIE);
    if (cookie === undefined) return undefined;
    try {
      return await this.#identity(cookie);
    } catch (error) {
      if (error instanceof DatabaseError) {
        throw new ServiceError("UNAVAILABLE", "sessions cannot be read now", { cause: error });
      }
      // It continues at replicas that have the key.
      if (error instanceof MissingKeyError) throw explainMissingKey(error, this.#options.logger);
      if (error instanceof UnsealError) {
        this.#options.logger.error({ error }, "a browser session cannot be read, and is over");
        throw sessionIsOver(error);
      }
      throw error;
    }
  }

  async #identity(cookie: string): Promise<Identity> {
    const { sessions, fresh, verifier, logger } = this.#options;
    const session = await sessions.use(cookie);
    if (session === undefined) throw sessionIsOver();
    const { id, tokens } = await fresh.of(session);
    const token = await verifier.verify(tokens.accessToken);
    if (!token.active && token.reason === "invalid") {
      // It was valid when it was stored: the key that signed it is not known here, or not any more. The
      // next refresh brings another one.
      logger.error({}, "the access token of a browser session cannot be verified");
      throw unreadableSession();
    }
    if (!token.active || !isOf(session, token.principal)) {
      await sessions.end(id);
      throw sessionIsOver();
    }
    return { principal: token.principal, credential: "cookie" };
  }
}

function isOf({ subjectId, subjectType }: SessionSubject, principal: Principal): boolean {
  return principal.subjectId === subjectId && principal.subjectType === subjectType;
}
