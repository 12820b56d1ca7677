import { createHash, randomBytes } from "node:crypto";
import {
  AS_HUB,
  type IamService,
  type IamServiceOptions,
  REDIRECT_URI,
  startIam,
} from "../iam-service.ts";
import { casdoorUser } from "./casdoor-records.ts";
import { APPLICATION, type StandInCasdoor, startCasdoor } from "./stand-in-casdoor.ts";

/** Who logs in. */
export const ALICE = casdoorUser("alice", { groups: ["acme/staff"] });

/** What a test changes. */
export interface IamWithCasdoorOptions extends IamServiceOptions {
  readonly casdoor?: Readonly<Record<string, unknown>>;
  /** Where browsers reach Casdoor; absent: where it listens. */
  readonly issuer?: string;
}

/** A svc-iam whose provider is a stand-in of Casdoor. */
export class IamWithCasdoor {
  readonly iam: IamService;
  readonly casdoor: StandInCasdoor;
  /** Built once: the RPC has a rate limit. */
  readonly loginUrl: URL;

  private constructor(iam: IamService, casdoor: StandInCasdoor, loginUrl: URL) {
    this.iam = iam;
    this.casdoor = casdoor;
    this.loginUrl = loginUrl;
  }

  static async start(options: IamWithCasdoorOptions = {}): Promise<IamWithCasdoor> {
    const casdoor = await startCasdoor(options.issuer);
    casdoor.oauth.visitor = ALICE;
    const iam = await startIam({
      // The log of hostile responses is long.
      logLevel: "silent",
      ...options,
      authn: {
        provider: "casdoor",
        casdoor: {
          endpoint: casdoor.origin,
          organization_name: "acme",
          application_name: APPLICATION.name,
          client_id: APPLICATION.clientId,
          client_secret: APPLICATION.clientSecret,
          ...options.casdoor,
        },
        ...options.authn,
      },
      oidc: {
        issuer: casdoor.issuer,
        audience: [APPLICATION.clientId],
        allowed_owners: ["acme"],
        ...options.oidc,
      },
      login: { client_id: APPLICATION.clientId, ...options.login },
    });
    const query = new URLSearchParams({ redirect_uri: REDIRECT_URI, state: "a state" });
    const { body } = await iam.call("GET", `/v1/iam/login-url?${query}`);
    return new IamWithCasdoor(iam, casdoor, new URL(body.loginUrl ?? "about:blank"));
  }

  /** Begins a login, and returns what its callback is exchanged with. */
  async callback(more: Readonly<Record<string, string>> = {}) {
    const codeVerifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(codeVerifier).digest("base64url");
    const url = new URL(this.loginUrl);
    url.searchParams.set("code_challenge", challenge);
    url.searchParams.set("nonce", "a nonce");
    const back = await this.casdoor.visit(url.href);
    const code = back.searchParams.get("code") ?? "";
    return { code, redirectUri: REDIRECT_URI, codeVerifier, nonce: "a nonce", ...more };
  }

  exchange(body: object) {
    return this.iam.call("POST", "/v1/iam/tokens:exchange", body, AS_HUB);
  }

  /** Logs the visitor in. */
  async logIn(): Promise<{ readonly accessToken: string; readonly refreshToken: string }> {
    const { status, body } = await this.exchange(await this.callback());
    if (status !== 200) throw new Error(`the login failed: ${JSON.stringify(body)}`);
    return body.tokens;
  }

  refresh(refreshToken: string, scopes: readonly string[] = []) {
    return this.iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken, scopes }, AS_HUB);
  }

  revoke(token: string) {
    return this.iam.call("POST", "/v1/iam/tokens:revoke", { token }, AS_HUB);
  }

  me(accessToken: string) {
    return this.iam.call("GET", "/v1/iam/me", undefined, {
      Authorization: `Bearer ${accessToken}`,
    });
  }

  /** Undoes what a test changed of the stand-in. */
  reset(): void {
    this.casdoor.intercept = undefined;
    this.casdoor.oauth.claims = {};
    this.casdoor.oauth.signer = undefined;
    this.casdoor.oauth.visitor = ALICE;
  }

  async stop(): Promise<void> {
    await this.iam.stop();
    await this.casdoor.close();
  }
}
