/** Where clients begin logins. */
export const AUTHORIZATION_ENDPOINT = "/auth";
/** Where people enter the codes that devices show. */
export const USER_CODE_PATH = "/device";
/** Where devices begin a login. */
export const DEVICE_START_PATH = "/device/auth";
/** Where the page of a logout sends its form. */
export const LOGOUT_FORM_PATH = "/session/end/confirm";
/** Where the keys are that tokens are verified with. */
export const KEY_SET_ENDPOINT = "/jwks";
/** Endpoints that take an access token, which may be a JWT. */
export const TOKEN_ENDPOINTS: ReadonlySet<string> = new Set([
  "/token/introspection",
  "/token/revocation",
]);

const FIXED: ReadonlySet<string> = new Set([
  AUTHORIZATION_ENDPOINT,
  USER_CODE_PATH,
  DEVICE_START_PATH,
  LOGOUT_FORM_PATH,
  KEY_SET_ENDPOINT,
  ...TOKEN_ENDPOINTS,
]);

/**
 * The path below the issuer, with the endpoints that are treated in a special way spelled as here.
 * `oidc-provider` finds them in upper case and with a slash at the end too, so that another spelling
 * would evade limits and checks.
 */
export function endpointPath(path: string): string {
  const spelled = path.replace(/(?<=.)\/$/, "").toLowerCase();
  return FIXED.has(spelled) ? spelled : path;
}
