import { createHash, randomBytes } from "node:crypto";
import { Browser, nextAddress } from "./browser.ts";
import { AS_HUB, type IamService, REDIRECT_URI } from "./iam-service.ts";

/** The tokens of a login. */
export interface LoggedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** The user name or password is wrong, or the user may not log in. */
export class LoginRefused extends Error {}

/** A service at which somebody logs in. */
export type LoginPlace = Pick<IamService, "call" | "origin">;

/**
 * Logs a user in as a gateway does, by the RPCs of IAMAuthService and the pages of the provider.
 *
 * @param browser one at an address of its own if absent: calls and pages are limited by address, so that a fast
 * machine would be slowed
 * @throws LoginRefused if the page of the login refuses the user name and password
 */
export async function logInAt(
  iam: LoginPlace,
  username: string,
  password: string,
  browser = new Browser(iam.origin, nextAddress()),
): Promise<LoggedIn> {
  const codeVerifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    state: "a state",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
  });
  let visit = await browser.open(await loginUrlAt(iam, query));
  if (visit.text.includes('name="password"')) {
    visit = await browser.submit(visit, { action: "login", username, password });
  }
  const code = new URL(visit.url).searchParams.get("code");
  if (code === null) {
    const message = `the login failed: ${visit.status} ${visit.text}`;
    throw visit.status === 401 ? new LoginRefused(message) : new Error(message);
  }
  const exchange = { code, redirectUri: REDIRECT_URI, codeVerifier };
  const { status, body } = await iam.call("POST", "/v1/iam/tokens:exchange", exchange, AS_HUB);
  if (status !== 200) throw new Error(`the exchange failed: ${status} ${JSON.stringify(body)}`);
  return body.tokens;
}

/** The address at which a login begins, as a client asks for it at an address of its own. */
export async function loginUrlAt(iam: LoginPlace, query: URLSearchParams): Promise<string> {
  const headers = { "x-forwarded-for": nextAddress() };
  const { status, body } = await iam.call("GET", `/v1/iam/login-url?${query}`, undefined, headers);
  if (status !== 200) throw new Error(`no login begins: ${status} ${JSON.stringify(body)}`);
  return body.loginUrl;
}

/** The headers of a call with an access token. */
export function withToken({ accessToken }: Pick<LoggedIn, "accessToken">): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}
