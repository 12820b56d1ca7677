import {
  allowInsecureRequests,
  type Configuration,
  customFetch,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  refreshTokenGrant,
  tokenRevocation,
} from "openid-client";
import { boundedFetch } from "../../provider/oidc/bounded-fetch.ts";
import { CommandError } from "../run/command-error.ts";
import { assertEndpoints, type Endpoint, pageOf, type Tokens, tokensOf } from "./issuer-answers.ts";
import { issuerProblem, NOT_APPROVED } from "./issuer-problem.ts";
import type { SavedLogin } from "./saved-login.ts";
import { isLoopback } from "./server-url.ts";

/** The client at an issuer. */
export type Client = Pick<SavedLogin, "issuer" | "clientId">;

/** What a person is shown to approve a login. */
export interface DeviceCode {
  /** Where the person enters the code. */
  readonly url: string;
  /** The same, with the code filled in. */
  readonly fullUrl: string | undefined;
  readonly code: string;
}

/** Of the answers of an issuer: more than any metadata or tokens have, and as long as openid-client waits. */
const BOUNDS = { largestBytes: 64 * 1024, timeoutMs: 30_000 };
/** The longest that a timer waits. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

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
  const { issuer } = client;
  const configuration = await configure(client, "device_authorization_endpoint", "token_endpoint");
  const begun = await asked(client, () =>
    initiateDeviceAuthorization(configuration, { scope: "openid profile email" }),
  );
  const { verification_uri: url, verification_uri_complete: fullUrl, user_code: code } = begun;
  show({
    url: pageOf(issuer, url),
    fullUrl: fullUrl === undefined ? undefined : pageOf(issuer, fullUrl),
    code,
  });
  const expired = AbortSignal.timeout(
    Math.min(Math.ceil(begun.expires_in * 1000), LONGEST_WAIT_MS),
  );
  const tokens = await asked(client, async () => {
    try {
      return await pollDeviceAuthorizationGrant(configuration, begun, undefined, {
        signal: expired,
      });
    } catch (error) {
      // Its polling ends with the code, often before the issuer can say that it has expired.
      if (!expired.aborted) throw error;
      throw new CommandError(NOT_APPROVED, { cause: error });
    }
  });
  return tokensOf(issuer, tokens);
}

/**
 * Gets new tokens by the refresh token.
 *
 * @throws CommandError if the login has ended
 */
export async function refreshLogin(client: Client, refreshToken: string): Promise<Tokens> {
  const configuration = await configure(client, "token_endpoint");
  const tokens = tokensOf(
    client.issuer,
    await asked(client, () => refreshTokenGrant(configuration, refreshToken)),
  );
  return { refreshToken, ...tokens };
}

/** Ends a login at the issuer: its refresh token, and the session behind it. */
export async function revokeLogin(client: Client, refreshToken: string): Promise<void> {
  const configuration = await configure(client, "revocation_endpoint");
  await asked(client, () => tokenRevocation(configuration, refreshToken));
}

/** Asks the issuer for its metadata. @throws CommandError if an endpoint that is used is not one of the issuer */
async function configure(
  client: Client,
  ...endpoints: readonly Endpoint[]
): Promise<Configuration> {
  const { issuer, clientId } = client;
  const url = new URL(issuer);
  const execute = url.protocol === "http:" && isLoopback(url) ? [allowInsecureRequests] : [];
  const bounded = boundedFetch(undefined, BOUNDS) as never;
  const configuration = await asked(client, () =>
    discovery(url, clientId, undefined, None(), { execute, [customFetch]: bounded }),
  );
  assertEndpoints(issuer, configuration.serverMetadata(), endpoints);
  return configuration;
}

/** The result of a request to the issuer; a refusal as what the person can do. */
async function asked<Result>({ issuer }: Client, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(issuerProblem(issuer, error as Error), { cause: error });
  }
}
