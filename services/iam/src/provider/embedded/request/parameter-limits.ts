import { ServiceError } from "svc-access/runtime";
import { AUTHORIZATION_ENDPOINT, DEVICE_START_PATH, LOGOUT_ENDPOINT } from "./endpoints.ts";

/** Where `oidc-provider` stores parameters, or sends them back, for whoever asks. */
const ENDPOINTS: ReadonlySet<string> = new Set([
  AUTHORIZATION_ENDPOINT,
  DEVICE_START_PATH,
  LOGOUT_ENDPOINT,
]);

/** The bytes that a parameter may have at most. */
const SHORT = 512;
/** A gateway has the page in it that somebody wanted to open. */
const STATE = 4096;
const LONGEST: ReadonlyMap<string, number> = new Map([
  ["acr_values", SHORT],
  ["claims_locales", SHORT],
  ["client_id", SHORT],
  ["code_challenge", SHORT],
  ["code_challenge_method", SHORT],
  ["display", SHORT],
  ["id_token_hint", 4096],
  ["login_hint", SHORT],
  ["logout_hint", SHORT],
  ["max_age", SHORT],
  ["nonce", SHORT],
  ["post_logout_redirect_uri", 2048],
  ["prompt", SHORT],
  ["redirect_uri", 2048],
  ["resource", 2048],
  ["response_mode", SHORT],
  ["response_type", SHORT],
  ["scope", 1024],
  ["state", STATE],
  ["ui_locales", SHORT],
]);
/** The bytes that all of them may have together. */
const LONGEST_OF_ALL = 8192;

/**
 * Refuses long parameters of a request by which nobody has to be known: what it stores is small.
 *
 * @param endpoint of `endpointPath`
 * @throws ServiceError INVALID_ARGUMENT
 */
export function refuseLongParameters(endpoint: string, parameters: URLSearchParams): void {
  if (!ENDPOINTS.has(endpoint)) return;
  let total = 0;
  for (const [name, longest] of LONGEST) {
    let bytes = 0;
    for (const value of parameters.getAll(name)) bytes += Buffer.byteLength(value);
    if (bytes > longest) throw tooLong(name, longest);
    total += bytes;
  }
  if (total > LONGEST_OF_ALL) throw tooLong("the sum of the parameters", LONGEST_OF_ALL);
}

function tooLong(what: string, longest: number): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `${what} is longer than ${longest} bytes`);
}
