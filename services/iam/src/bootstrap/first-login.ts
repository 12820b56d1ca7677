import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { CallContext, Principal, TokenVerifier } from "svc-access/runtime";
import { checkTokens } from "../login/browser/check-tokens.ts";
import type { LoginCallbacks } from "../login/browser/login-callbacks.ts";
import type { IdentityProvider } from "../provider/identity-provider.ts";
import { LINK_LIFE_MS } from "./bootstrap-links.ts";

/** How a login by a link begins. */
export interface BegunLogin {
  readonly loginUrl: string;
  /** What the browser keeps until it comes back. */
  readonly secret: string;
}

/** What logins by a link need. */
export interface FirstLoginOptions {
  readonly provider: IdentityProvider;
  readonly verifier: TokenVerifier;
  readonly callbacks: Pick<LoginCallbacks, "isFirst">;
  /** Where the provider sends browsers back to. */
  readonly redirectUri: string;
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * Logs somebody in at another provider by a link. State, nonce and verifier of the login are derived
 * from a secret that only the browser keeps, and from the token of the link.
 */
export class FirstLogin {
  readonly #options: FirstLoginOptions;

  constructor(options: FirstLoginOptions) {
    this.#options = options;
  }

  /** Begins a login. */
  async begin(token: string, call: CallContext): Promise<BegunLogin> {
    const secret = randomBytes(32).toString("base64url");
    const { state, nonce, verifier } = derive(token, secret);
    const { provider, redirectUri } = this.#options;
    // RFC 7636, S256.
    const codeChallenge = createHash("sha256").update(verifier).digest("base64url");
    const loginUrl = await provider.loginUrl({ redirectUri, state, nonce, codeChallenge }, call);
    return { loginUrl, secret };
  }

  /**
   * Completes a login.
   *
   * @returns who has logged in; undefined where the callback does not belong to the browser's login, or
   * is not its first one, or the provider names no user
   * @throws ServiceError as the provider's client does
   */
  async complete(
    callback: URLSearchParams,
    { token, secret }: { readonly token: string; readonly secret: string },
    call: CallContext,
  ): Promise<Principal | undefined> {
    if (!SECRET.test(secret)) return undefined;
    const { state, nonce, verifier } = derive(token, secret);
    const [code, givenState] = [single(callback, "code"), single(callback, "state")];
    if (code === undefined || !isSame(givenState ?? "", state)) return undefined;
    const { provider, redirectUri, callbacks } = this.#options;
    // The link is dead by then.
    const expireTime = Date.now() + LINK_LIFE_MS;
    if (!(await callbacks.isFirst({ state, expireTime }))) return undefined;
    const issuer = single(callback, "iss") ?? "";
    const tokens = await provider.exchangeCode(
      { code, redirectUri, codeVerifier: verifier, nonce, issuer, isWholeCallback: true },
      call,
    );
    const principal = await checkTokens(this.#options.verifier, tokens);
    return principal.subjectType === "user" ? principal : undefined;
  }
}

function derive(token: string, secret: string) {
  const of = (purpose: string) =>
    createHmac("sha256", `${token}.${secret}`).update(purpose).digest("base64url");
  return { state: of("state"), nonce: of("nonce"), verifier: of("verifier") };
}

/** A parameter that comes once. */
function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
