/** Where clients begin logins. */
export const AUTHORIZATION_ENDPOINT = "/auth";
/** Where people enter the codes that devices show. */
export const USER_CODE_PATH = "/device";
/** Where people come to who have approved a device. */
export const DEVICE_DONE_PATH = "/device/done";
/** Where devices begin a login. */
export const DEVICE_START_PATH = "/device/auth";
/** Where logouts begin. */
export const LOGOUT_ENDPOINT = "/session/end";
/** Where the page of a logout sends its form. */
export const LOGOUT_FORM_PATH = "/session/end/confirm";
/** Where the keys are that tokens are verified with. */
export const KEY_SET_ENDPOINT = "/jwks";
/** Where the metadata is for clients of OAuth, also at `METADATA_PATH`. */
export const METADATA_ENDPOINT = "/.well-known/oauth-authorization-server";
/** Where clients ask about their tokens. */
export const INTROSPECTION_ENDPOINT = "/token/introspection";
/** Endpoints that take an access token, which may be a JWT. */
export const TOKEN_ENDPOINTS: ReadonlySet<string> = new Set([
  INTROSPECTION_ENDPOINT,
  "/token/revocation",
]);
/** Endpoints at which clients authenticate. */
export const CLIENT_ENDPOINTS: ReadonlySet<string> = new Set([
  "/token",
  DEVICE_START_PATH,
  ...TOKEN_ENDPOINTS,
]);

/** The methods of the endpoints of `oidc-provider`, with the features that are enabled. */
export const ENDPOINT_METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  [AUTHORIZATION_ENDPOINT, ["GET", "HEAD", "POST"]],
  ["/token", ["POST"]],
  ...[...TOKEN_ENDPOINTS].map((path): [string, string[]] => [path, ["POST"]]),
  [KEY_SET_ENDPOINT, ["GET", "HEAD"]],
  ["/.well-known/openid-configuration", ["GET", "HEAD"]],
  [METADATA_ENDPOINT, ["GET", "HEAD"]],
  [USER_CODE_PATH, ["GET", "HEAD", "POST"]],
  [DEVICE_START_PATH, ["POST"]],
  [LOGOUT_ENDPOINT, ["GET", "HEAD", "POST"]],
  ["/session/end/success", ["GET", "HEAD"]],
  [LOGOUT_FORM_PATH, ["POST"]],
]);
/** Where a client may have the browser send the parameters as a form instead. */
export const SENT_AS_FORM: ReadonlySet<string> = new Set([AUTHORIZATION_ENDPOINT, LOGOUT_ENDPOINT]);
/** Where a browser continues after an interaction, with the id of that. */
const CONTINUED = /^\/(?:auth|device)\/[^/]+\/?$/;
/** Where the script of the passkeys is. */
export const PASSKEY_SCRIPT_PATH = "/passkeys.js";
/** The pages below the issuer that are not of `oidc-provider`. */
const OTHER_PAGES = /^\/(?:account|interaction)(?:\/|$)/;
/** The endpoints with a rate limit of their own. */
const LIMITED = /^\/(?:auth$|device(?:\/|$)|session\/)/;

/**
 * Whether a path is another spelling of an endpoint with a rate limit, which it would evade.
 *
 * @param path below the issuer, as it was sent
 */
export function evadesLimit(path: string): boolean {
  const endpoint = endpointPath(path);
  return endpoint !== path && LIMITED.test(endpoint);
}

/** The methods of an endpoint, except OPTIONS; undefined for what is not an endpoint. @param path of `endpointPath` */
export function endpointMethods(path: string): readonly string[] | undefined {
  return ENDPOINT_METHODS.get(path) ?? (CONTINUED.test(path) ? ["GET", "HEAD"] : undefined);
}

/** The methods of what is below the issuer and not of `oidc-provider`, likewise. @param path as `endpointMethods` */
export function otherPageMethods(path: string): readonly string[] | undefined {
  if (path === PASSKEY_SCRIPT_PATH) return ["GET", "HEAD"];
  return OTHER_PAGES.test(path) ? ["GET", "HEAD", "POST"] : undefined;
}

/**
 * The path below the issuer, with the endpoints spelled as here. `oidc-provider` finds them in upper case and with
 * a slash at the end too, so that another spelling would evade limits and checks.
 */
export function endpointPath(path: string): string {
  const spelled = path.replace(/(?<=.)\/$/, "").toLowerCase();
  return ENDPOINT_METHODS.has(spelled) ? spelled : path;
}
