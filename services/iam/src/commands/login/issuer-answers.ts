/** What an issuer answers is used only if it is what the standards say: anybody may be at its address. */
import type { ServerMetadata, TokenEndpointResponse } from "openid-client";
import { CommandError } from "../run/command-error.ts";
import { oneLine } from "../run/print.ts";
import type { SavedLogin } from "./saved-login.ts";
import { isPrivate } from "./server-url.ts";
import { isAccessToken, isRefreshToken } from "./token-texts.ts";

/** The tokens of a login. */
export type Tokens = Pick<SavedLogin, "accessToken" | "expires" | "refreshToken">;

/** An endpoint of an issuer, as its metadata names it. */
export type Endpoint = "device_authorization_endpoint" | "token_endpoint" | "revocation_endpoint";

/** Without `expires_in`, a token is used at once and not again. */
const UNKNOWN_SECONDS = 30;
/** 68 years. */
const MOST_SECONDS = 2 ** 31 - 1;
/** The most characters of an answer that a message repeats. */
const MOST_REPEATED = 200;

/**
 * Checks that what is sent to endpoints goes to the issuer, which the person has chosen, and nowhere else.
 *
 * @throws CommandError for one at another origin
 */
export function assertEndpoints(
  issuer: string,
  metadata: ServerMetadata,
  names: readonly Endpoint[],
): void {
  const { origin } = new URL(issuer);
  for (const name of names) {
    const url: unknown = metadata[name];
    // openid-client says which one is missing.
    if (url === undefined || originOf(url) === origin) continue;
    throw unusable(
      issuer,
      `its ${name} is ${shown(url)}, and a login is sent to ${origin} only: let the provider name one there, or name another provider with --issuer`,
    );
  }
}

/**
 * The page that a person is asked to open.
 *
 * @throws CommandError if it is not a page of the web, or has no TLS
 */
export function pageOf(issuer: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isPrivate(url)) return url.href;
  throw unusable(
    issuer,
    `the page for its code is ${shown(text)}, and must be https://, or http:// on this machine: do not open it, and check the address`,
  );
}

/** The tokens of a response. @throws CommandError if they cannot be used, or not be printed safely */
export function tokensOf(issuer: string, response: TokenEndpointResponse): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken } = response;
  const { expires_in: seconds = UNKNOWN_SECONDS } = response;
  if (!isAccessToken(accessToken)) {
    throw unusable(
      issuer,
      "its access token has characters that RFC 6750 does not allow: check the address",
    );
  }
  if (refreshToken !== undefined && !isRefreshToken(refreshToken)) {
    throw unusable(
      issuer,
      "its refresh token has characters that RFC 6749 does not allow: check the address",
    );
  }
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MOST_SECONDS) {
    throw unusable(
      issuer,
      `its expires_in is ${seconds}, and must be a whole number of seconds from 1 to ${MOST_SECONDS}: check the address`,
    );
  }
  const expires = Date.now() + seconds * 1000;
  return { accessToken, expires, ...(refreshToken === undefined ? {} : { refreshToken }) };
}

function originOf(url: unknown): string | undefined {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).origin : undefined;
}

function shown(value: unknown): string {
  const text = oneLine(JSON.stringify(value));
  return text.length > MOST_REPEATED ? `${text.slice(0, MOST_REPEATED)}…` : text;
}

function unusable(issuer: string, problem: string): CommandError {
  return new CommandError(`the identity provider ${issuer} cannot be used: ${problem}`);
}
