import { TOKEN_ENDPOINTS } from "../request/endpoints.ts";
import type { PresentedToken } from "../request/request-scope.ts";
import { looksLikeJwt, type OwnTokens, presentAccessToken } from "./presented-access-token.ts";

/** What `oidc-provider` gets of a request. */
export interface PresentedRequest {
  /** The body to send to it. */
  readonly sent: Uint8Array | undefined;
  /** The access token that the handle in the body is for. */
  readonly presented?: PresentedToken;
}

/**
 * Replaces the JWT of a request that introspects or revokes it by a handle that `oidc-provider` can look
 * up; it refuses to handle JWTs.
 *
 * @param path below the issuer
 */
export async function presentTokenOf(
  path: string,
  body: Uint8Array | undefined,
  own: OwnTokens,
): Promise<PresentedRequest> {
  if (body === undefined || !TOKEN_ENDPOINTS.has(path)) return { sent: body };
  const parameters = new URLSearchParams(Buffer.from(body).toString("utf8"));
  const [token, ...others] = parameters.getAll("token");
  // Two of them are refused.
  if (token === undefined || others.length > 0 || !looksLikeJwt(token)) return { sent: body };
  const presented = await presentAccessToken(token, own);
  // Otherwise nothing is found, as for any token that is not valid.
  parameters.set("token", presented?.handle ?? "invalid");
  const sent = Buffer.from(parameters.toString());
  return presented === undefined ? { sent } : { presented, sent };
}
