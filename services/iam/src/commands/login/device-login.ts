import {
  allowInsecureRequests,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
  refreshTokenGrant,
  type TokenEndpointResponse,
  tokenRevocation,
} from "openid-client";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { CommandError } from "../run/command-error.ts";
import { whyUnreachable } from "../run/why-unreachable.ts";
import type { SavedLogin } from "./saved-login.ts";
import { isLoopback } from "./server-url.ts";

/** The client at an issuer. */
export type Client = Pick<SavedLogin, "issuer" | "clientId">;

/** The tokens of a login. */
export type Tokens = Pick<SavedLogin, "accessToken" | "expires" | "refreshToken">;

/** What a person is shown to approve a login. */
export interface DeviceCode {
  /** Where the person enters the code. */
  readonly url: string;
  /** The same, with the code filled in. */
  readonly fullUrl: string | undefined;
  readonly code: string;
}

/** Without `expires_in`, a token is used at once and not again. */
const UNKNOWN_SECONDS = 30;

/**
 * Logs a person in by a browser, on this device or another one (RFC 8628).
 *
 * @param show shows the person where to approve it
 * @throws CommandError if it is refused, or not approved in time
 */
export async function logInByDevice(
  client: Client,
  show: (code: DeviceCode) => void,
): Promise<Tokens> {
  const configuration = await configure(client);
  const begun = await asked(client, () =>
    initiateDeviceAuthorization(configuration, { scope: "openid profile email" }),
  );
  const { verification_uri: url, verification_uri_complete: fullUrl, user_code: code } = begun;
  show({ url, fullUrl, code });
  const expired = AbortSignal.timeout(begun.expires_in * 1000);
  const tokens = await asked(client, async () => {
    try {
      return await pollDeviceAuthorizationGrant(configuration, begun, undefined, {
        signal: expired,
      });
    } catch (error) {
      // Its polling ends with the code, often before the issuer can say that it has expired.
      if (!expired.aborted) throw error;
      throw new CommandError(PROBLEMS["expired_token"] as string, { cause: error });
    }
  });
  return tokensOf(tokens);
}

/**
 * Gets new tokens by the refresh token.
 *
 * @throws CommandError if the login has ended
 */
export async function refreshLogin(client: Client, refreshToken: string): Promise<Tokens> {
  const configuration = await configure(client);
  const tokens = tokensOf(
    await asked(client, () => refreshTokenGrant(configuration, refreshToken)),
  );
  return { refreshToken, ...tokens };
}

/** Ends a login at the issuer: its refresh token, and the session behind it. */
export async function revokeLogin(client: Client, refreshToken: string): Promise<void> {
  const configuration = await configure(client);
  await asked(client, () => tokenRevocation(configuration, refreshToken));
}

async function configure(client: Client): Promise<Configuration> {
  const { issuer, clientId } = client;
  const url = new URL(issuer);
  const execute = url.protocol === "http:" && isLoopback(url) ? [allowInsecureRequests] : [];
  return asked(client, () => discovery(url, clientId, undefined, None(), { execute }));
}

/** The result of a request to the issuer; a refusal as what the person can do. */
async function asked<Result>({ issuer }: Client, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(problemOf(issuer, error as Error), { cause: error });
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  access_denied: "the login was refused in the browser",
  expired_token: "nobody approved the login in time: run svc-iam login again",
  invalid_client:
    "the server does not know the client of the command line: declare it in iam.clients with flows: [device], or name another one with --client-id",
  invalid_grant: "the login has ended: run svc-iam login",
  unauthorized_client:
    "the client may not log devices in: add device to its flows in iam.clients, or name another one with --client-id",
};

/** The most characters of an issuer that a message repeats. */
const MOST_NAMED = 200;

/** What an address that is not of an identity provider answers with. */
const NO_PROVIDER = /unexpected HTTP response status|Content-Type/;

function problemOf(issuer: string, error: Error): string {
  if (error instanceof ResponseBodyError) {
    const said = error.error_description === undefined ? "" : `: ${error.error_description}`;
    if (error.status === 503) return cannotAnswer(issuer);
    return PROBLEMS[error.error] ?? `the server refuses the login (${error.error}${said})`;
  }
  if (causesOf(error).some((cause) => cause instanceof Response && cause.status === 503)) {
    return cannotAnswer(issuer);
  }
  const other = otherIssuerOf(error);
  if (other !== undefined) {
    return `the identity provider ${issuer} calls itself ${other}: ${useOf(other)}`;
  }
  const { cause, message } = error;
  const { message: reason = "" } = (cause ?? {}) as { readonly message?: string };
  const isElsewhere = NO_PROVIDER.test(`${message} ${reason}`);
  const fix = isElsewhere
    ? "no identity provider is there: check the address"
    : whyUnreachable(error);
  // The errors of OpenSSL have lines of their own.
  const [line = ""] = (reason === "" ? message : reason).split("\n");
  return `the identity provider ${issuer} cannot be reached or used: ${fix ?? line}`;
}

/** As other commands say it of the API. */
function cannotAnswer(issuer: string): string {
  return `the server ${new URL(issuer).origin} cannot answer now (503): look at /readyz and the log of the server, and repeat the command`;
}

/** The issuer that the metadata names, if it is not the one that was asked. */
function otherIssuerOf(error: Error): string | undefined {
  for (const cause of causesOf(error)) {
    const { attribute, body } = cause as { attribute?: unknown; body?: { issuer?: unknown } };
    const named = attribute === "issuer" ? body?.issuer : undefined;
    if (typeof named === "string" && named.length <= MOST_NAMED && URL.canParse(named))
      return named;
  }
  return undefined;
}

function useOf(issuer: string): string {
  const { origin } = new URL(issuer);
  const isOurs = issuer === `${origin}${PROVIDER_PATH}`;
  return isOurs ? `use ${origin}, which is its iam.public_url` : `use --issuer ${issuer}`;
}

/** What led to an error: errors, and the responses and values that the library gives as their cause. */
function causesOf(error: Error): readonly object[] {
  const causes: object[] = [];
  let { cause } = error;
  while (typeof cause === "object" && cause !== null && !causes.includes(cause)) {
    causes.push(cause);
    ({ cause } = cause as { cause?: unknown });
  }
  return causes;
}

function tokensOf(response: TokenEndpointResponse): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken } = response;
  const expires = Date.now() + (response.expires_in ?? UNKNOWN_SECONDS) * 1000;
  return { accessToken, expires, ...(refreshToken === undefined ? {} : { refreshToken }) };
}
