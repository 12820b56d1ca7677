import { createHash, randomBytes } from "node:crypto";
import { Browser } from "./browser.ts";
import { AS_HUB, type IamService, REDIRECT_URI } from "./iam-service.ts";

/** The tokens of a login. */
export interface LoggedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A service at which somebody logs in. */
export type LoginPlace = Pick<IamService, "call" | "origin">;

/** Logs a user in as a gateway does, by the RPCs of IAMAuthService and the pages of the provider. */
export async function logInAt(
  iam: LoginPlace,
  username: string,
  password: string,
  browser = new Browser(iam.origin),
): Promise<LoggedIn> {
  const codeVerifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    state: "a state",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
  });
  const { body: begun } = await iam.call("GET", `/v1/iam/login-url?${query}`);
  let visit = await browser.open(begun.loginUrl);
  if (visit.text.includes('name="password"')) {
    visit = await browser.submit(visit, { action: "login", username, password });
  }
  const code = new URL(visit.url).searchParams.get("code");
  if (code === null) throw new Error(`the login failed: ${visit.status} ${visit.text}`);
  const exchange = { code, redirectUri: REDIRECT_URI, codeVerifier };
  const { status, body } = await iam.call("POST", "/v1/iam/tokens:exchange", exchange, AS_HUB);
  if (status !== 200) throw new Error(`the exchange failed: ${status} ${JSON.stringify(body)}`);
  return body.tokens;
}

/** The headers of a call with an access token. */
export function withToken({ accessToken }: Pick<LoggedIn, "accessToken">): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}
