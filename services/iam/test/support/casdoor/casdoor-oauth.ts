import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { CasdoorUser } from "./casdoor-records.ts";
import { type CasdoorKey, issueTokens, type TokenRecord } from "./casdoor-tokens.ts";

/** An application of Casdoor. */
export interface CasdoorApplication {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: string[];
}

/** The answer of an endpoint. */
export interface CasdoorAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly location?: string;
}

interface Code {
  readonly user: CasdoorUser;
  readonly challenge: string;
  readonly scope: string;
  readonly nonce: string;
}

/** The login and tokens of Casdoor, as its documentation of OAuth describes them. */
export class CasdoorOauth {
  readonly #application: CasdoorApplication;
  readonly #key: CasdoorKey;
  readonly #issuer: string;
  readonly #codes = new Map<string, Code>();
  /** Its records of tokens, by name. */
  readonly records = new Map<string, TokenRecord>();
  /** Who logs in next. */
  visitor: CasdoorUser | undefined;
  /** Changes of the claims of tokens, for hostile ones. */
  claims: Readonly<Record<string, unknown>> = {};
  /** Signs instead of the application's key. */
  signer: CasdoorKey | undefined;
  expiresIn = 168 * 3600;

  constructor(issuer: string, application: CasdoorApplication, key: CasdoorKey) {
    this.#issuer = issuer;
    this.#application = application;
    this.#key = key;
  }

  /** The page `/login/oauth/authorize`, of a browser that logs in at once. */
  authorize(query: URLSearchParams): CasdoorAnswer {
    const redirect = query.get("redirect_uri") ?? "";
    const isKnown =
      query.get("client_id") === this.#application.clientId &&
      query.get("response_type") === "code" &&
      this.#application.redirectUris.includes(redirect);
    if (!isKnown || this.visitor === undefined) return { status: 400 };
    const code = randomBytes(10).toString("hex");
    this.#codes.set(code, {
      user: this.visitor,
      challenge: query.get("code_challenge") ?? "",
      scope: query.get("scope") ?? "",
      nonce: query.get("nonce") ?? "",
    });
    const back = new URL(redirect);
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    return { status: 302, location: back.href };
  }

  /** `POST /api/login/oauth/access_token`: the client and its secret are fields of the form. */
  async token(form: URLSearchParams): Promise<CasdoorAnswer> {
    const { clientId, clientSecret } = this.#application;
    if (form.get("client_id") !== clientId || !isEqual(form.get("client_secret"), clientSecret)) {
      return refused(401, "invalid_client", "client_id or client_secret is invalid");
    }
    const grant = form.get("grant_type");
    if (grant === "authorization_code") return this.#redeem(form);
    if (grant === "refresh_token") return this.#refresh(form);
    return refused(400, "unsupported_grant_type", `grant_type: ${grant} is not supported`);
  }

  /** `GET /api/logout`: expires the record of a token, and returns the browser. */
  logout(query: URLSearchParams): CasdoorAnswer {
    const hint = query.get("id_token_hint");
    const record = [...this.records.values()].find(({ accessToken }) => accessToken === hint);
    if (record === undefined) {
      const msg = "Token not found, invalid accessToken";
      return { status: 200, json: { status: "error", msg, data: null, data2: null } };
    }
    const target = query.get("post_logout_redirect_uri") ?? "";
    if (!this.#application.redirectUris.includes(target)) return { status: 400 };
    this.records.delete(record.name);
    return { status: 302, location: `${target}?state=${query.get("state") ?? ""}` };
  }

  /** Deletes a record, as `POST /api/delete-token` does. */
  deleteToken({ owner, name }: { readonly owner?: unknown; readonly name?: unknown }): string {
    const isKnown = owner === "admin" && typeof name === "string" && this.records.delete(name);
    return isKnown ? "Affected" : "Unaffected";
  }

  async #redeem(form: URLSearchParams): Promise<CasdoorAnswer> {
    const text = form.get("code") ?? "";
    const code = this.#codes.get(text);
    if (text === "guest-user" && this.visitor !== undefined) {
      return this.#issue(this.visitor, "", "");
    }
    if (code === undefined) {
      return refused(400, "invalid_grant", `authorization code: [${text}] is invalid`);
    }
    const verifier = form.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    if (code.challenge !== "" && code.challenge !== challenge) {
      return refused(400, "invalid_grant", "verifier is invalid");
    }
    this.#codes.delete(text);
    return this.#issue(code.user, code.scope, code.nonce);
  }

  async #refresh(form: URLSearchParams): Promise<CasdoorAnswer> {
    const token = form.get("refresh_token");
    const record = [...this.records.values()].find(({ refreshToken }) => refreshToken === token);
    if (record === undefined) {
      return refused(400, "invalid_grant", "refresh token is invalid or revoked");
    }
    const scope = form.get("scope") ?? record.scope;
    if (!scope.split(" ").every((one) => record.scope.split(" ").includes(one))) {
      return refused(400, "invalid_scope", "the requested scope exceeds the original one");
    }
    this.records.delete(record.name);
    return this.#issue(record.user, scope, "");
  }

  async #issue(user: CasdoorUser, scope: string, nonce: string): Promise<CasdoorAnswer> {
    const record = await issueTokens({
      issuer: this.#issuer,
      clientId: this.#application.clientId,
      key: this.signer ?? this.#key,
      user,
      scope,
      nonce,
      claims: this.claims,
      expiresIn: this.expiresIn,
    });
    this.records.set(record.name, record);
    const { accessToken, refreshToken } = record;
    return {
      status: 200,
      json: {
        access_token: accessToken,
        id_token: accessToken,
        refresh_token: refreshToken,
        token_type: "Bearer",
        expires_in: this.expiresIn,
        scope,
      },
    };
  }
}

function refused(status: number, error: string, description: string): CasdoorAnswer {
  return { status, json: { error, error_description: description } };
}

function isEqual(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
