/** The path of the issuer; all paths of the provider lie below it. */
export const PROVIDER_PATH = "/v1/iam/oidc";
/** The path of its metadata for clients of OAuth: RFC 8414 has the path of an issuer after the well-known one. */
export const METADATA_PATH = `/.well-known/oauth-authorization-server${PROVIDER_PATH}`;
/** The path where clients begin logins. */
export const AUTHORIZATION_PATH = `${PROVIDER_PATH}/auth`;
/** The path below which devices are logged in. */
export const DEVICE_PATH = `${PROVIDER_PATH}/device`;
/** The path below which logouts are. */
export const LOGOUT_PATH = `${PROVIDER_PATH}/session`;
/** The path of the login and consent pages. */
export const INTERACTION_PATH = `${PROVIDER_PATH}/interaction`;
/** The path of the pages on which people see and change their own account. */
export const OWN_ACCOUNT_PATH = `${PROVIDER_PATH}/account`;
