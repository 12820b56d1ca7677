import { createHash, randomBytes } from "node:crypto";
import { AUTHORIZATION_PATH, OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import { cookieOf, type RequestHeaders } from "../../pages/cookie-values.ts";
import { usesFactor } from "../../people/factors/has-factor.ts";
import type { Visitor, VisitorLogin, Visitors } from "../../people/sessions/visitors.ts";
import type { ProviderCall } from "../identity-provider.ts";
import { hash } from "./adapter/sealed-documents.ts";
import { sessionCookieName } from "./embedded-options.ts";
import type { EmbeddedProvider } from "./embedded-provider.ts";

/** Who is logged in at the embedded provider. */
export class EmbeddedVisitors implements Visitors {
  readonly #provider: EmbeddedProvider;
  readonly #clientId: string;

  /** @param clientId the client that the service is at its own provider */
  constructor(provider: EmbeddedProvider, clientId: string) {
    this.#provider = provider;
    this.#clientId = clientId;
  }

  async find(headers: RequestHeaders, call: ProviderCall): Promise<Visitor | undefined> {
    const session = await this.#provider.sessionOf(headers, call);
    if (session?.accountId === undefined || session.loginTs === undefined) return undefined;
    return {
      accountId: session.accountId,
      sessionId: session.uid,
      loginTime: session.loginTs * 1000,
      usedFactor: usesFactor(session.amr),
      browser: hash(session.jti),
    };
  }

  async addedFactor(
    headers: RequestHeaders,
    call: ProviderCall,
    methods: readonly string[],
  ): Promise<void> {
    const cookie = this.#cookieOf(headers);
    if (cookie === undefined) return;
    const browser = this.#provider.browserOf(headers);
    const userAgent = headers.all("user-agent").join();
    const { provider } = await this.#provider.current();
    await this.#provider.within({ call, browser, userAgent }, async () => {
      const session = await provider.Session.find(cookie);
      if (session === undefined) return;
      session.amr = [...new Set([...(session.amr ?? []), ...methods])];
      await session.persist();
    });
  }

  #cookieOf(headers: RequestHeaders): string | undefined {
    return cookieOf(headers, sessionCookieName(this.#provider.options.publicUrl)) || undefined;
  }

  /**
   * A login whose code nobody redeems, since nobody has the verifier of its challenge: what counts is
   * the session that the browser has then.
   */
  loginUrl({ state, maxAge }: VisitorLogin): string {
    const { publicUrl } = this.#provider.options;
    const query = new URLSearchParams({
      client_id: this.#clientId,
      response_type: "code",
      scope: "openid",
      redirect_uri: `${publicUrl}${OWN_ACCOUNT_PATH}`,
      code_challenge: createHash("sha256").update(randomBytes(32)).digest("base64url"),
      code_challenge_method: "S256",
      state,
      ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
    });
    return `${publicUrl}${AUTHORIZATION_PATH}?${query}`;
  }
}
