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

/** Whether somebody who is logged in is asked again, because that was too long ago for the client. */
export function isAskedAgain({ prompt, session }: Interaction): boolean {
  return session?.accountId !== undefined && prompt.reasons.includes("max_age");
}
