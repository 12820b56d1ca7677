import type { KoaContextWithOIDC, Provider } from "oidc-provider";

/** The only response type. */
export const RESPONSE_TYPE = "code";
/** Other modes need a script in the page, or put the code into the fragment. */
export const RESPONSE_MODE = "query";

/** Discovery names the modes that clients may ask for: `oidc-provider` names all that it has. */
export function declareResponseMode(ctx: KoaContextWithOIDC): void {
  const { body } = ctx;
  if (typeof body !== "object" || body === null || !("response_modes_supported" in body)) return;
  body.response_modes_supported = [RESPONSE_MODE];
}

/**
 * Has `oidc-provider` refuse another response type as that (RFC 6749, section 4.1.2.1). It asks for the mode first, which for
 * `token` and `id_token` is the fragment, and called the request invalid.
 */
export function refuseResponseTypes(provider: Provider): void {
  const prototype = provider.Client.prototype as unknown as {
    responseModeAllowed(mode: string, type: string | undefined, profile?: string): boolean;
  };
  const isAllowed = prototype.responseModeAllowed;
  prototype.responseModeAllowed = function allowed(mode, type, profile) {
    // As the library reads it afterwards, so that no spelling of `code` gets another mode.
    const types = new Set(type?.split(" "));
    const isCode = types.size === 1 && types.has(RESPONSE_TYPE);
    return type !== undefined && !isCode ? true : isAllowed.call(this, mode, type, profile);
  };
}
