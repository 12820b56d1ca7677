import type { Interaction } from "oidc-provider";
import { grantable } from "../../provider/embedded/tokens/load-grant.ts";

/** The scopes that the client asks for, of those that there are. */
export function scopesOf({ params }: Interaction): string[] {
  return grantable(String(params["scope"] ?? "").split(" "));
}

/** Where the client wants the browser back. */
export function redirectUriOf({ params }: Interaction): string | undefined {
  const uri = params["redirect_uri"];
  return typeof uri === "string" ? uri : undefined;
}
