import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError, type TokenVerifier } from "svc-access/runtime";
import type { IdentityProvider, ProviderCall } from "../../provider/identity-provider.ts";
import { type BrowserSession, type BrowserSessions, REFRESH_MS } from "./browser-sessions.ts";
import { refreshTimeOf } from "./check-tokens.ts";
import { sessionIsOver } from "./session-errors.ts";

/** How often another process is asked whether its refresh is done. */
const POLL_MS = 50;

/** What refreshing needs. */
export interface FreshTokensOptions {
  readonly provider: Pick<IdentityProvider, "refresh" | "revoke">;
  readonly sessions: BrowserSessions;
  readonly verifier: TokenVerifier;
  /** What the provider records and whom it works for. */
  readonly call: ProviderCall;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps the access tokens of sessions fresh. However many tabs and replicas need a new one at once,
 * one refreshes and the others get its tokens: a provider may take a refresh token once only.
 */
export class FreshTokens {
  readonly #options: FreshTokensOptions;
  readonly #underWay = new Map<string, Promise<BrowserSession>>();

  constructor(options: FreshTokensOptions) {
    this.#options = options;
  }

  /**
   * The session with an access token that is not near its end.
   *
   * @throws ServiceError UNAUTHORIZED if the session is over, UNAVAILABLE if the provider does not
   * answer and the access token has expired
   */
  async of(session: BrowserSession): Promise<BrowserSession> {
    const { now = Date.now } = this.#options;
    if (now() < session.refreshTime) return session;
    const { id } = session;
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay;
    const refreshed = this.#refreshed(session).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, refreshed);
    return refreshed;
  }

  async #refreshed(session: BrowserSession): Promise<BrowserSession> {
    const { sessions } = this.#options;
    if (!(await sessions.beginRefresh(session))) return this.#awaited(session);
    try {
      return await this.#refresh(session);
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        await sessions.endRefresh(session.id);
        throw error;
      }
      if (error.code === "INVALID_ARGUMENT" || error.code === "UNAUTHORIZED") {
        await sessions.end(session.id);
        throw sessionIsOver(error);
      }
      await sessions.endRefresh(session.id);
      return this.#asItIs(session, error);
    }
  }

  async #refresh(session: BrowserSession): Promise<BrowserSession> {
    const { provider, sessions, call, now = Date.now } = this.#options;
    const { id, tokens: old } = session;
    if (old.refreshToken === "") throw sessionIsOver();
    const issued = await provider.refresh(old.refreshToken, [], call);
    // Stored before it is verified: the old refresh token is used up.
    const refreshTime = refreshTimeOf(issued.accessToken, now());
    const tokens = {
      accessToken: issued.accessToken,
      refreshToken: issued.refreshToken || old.refreshToken,
      idToken: issued.idToken || old.idToken,
    };
    if (!(await sessions.endRefresh(id, { tokens, refreshTime }))) {
      // Logged out in the meantime: what was issued since ends as well.
      await provider.revoke(tokens.refreshToken, "refresh_token", call).catch(() => undefined);
      throw sessionIsOver();
    }
    return { ...session, tokens, refreshTime };
  }

  /** The session once another process has refreshed it; until then its access token is used. */
  async #awaited(session: BrowserSession): Promise<BrowserSession> {
    const { sessions, verifier } = this.#options;
    const { active } = await verifier.verify(session.tokens.accessToken);
    for (let waited = 0; waited <= REFRESH_MS; waited += POLL_MS) {
      const found = await sessions.find(session.id);
      if (found === undefined) throw sessionIsOver();
      if (found.refreshTime !== session.refreshTime || active) return found;
      await sleep(POLL_MS);
    }
    throw new ServiceError("UNAVAILABLE", "the session is being refreshed");
  }

  async #asItIs(session: BrowserSession, error: ServiceError): Promise<BrowserSession> {
    const { active } = await this.#options.verifier.verify(session.tokens.accessToken);
    if (!active) throw error;
    return session;
  }
}
