/** Where a login begins. */
export const LOGIN_PATH = "/v1/iam/ui/login";
/** Where a login leads that names no other page. */
export const ACCOUNT_PATH = "/v1/iam/ui/account";
/** Where the identity provider sends the browser back to. */
export const CALLBACK_PATH = "/v1/iam/oauth2/callback";
/** Where a login ends. */
export const LOGOUT_PATH = "/v1/iam/logout";
