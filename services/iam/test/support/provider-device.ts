import { randomUUID } from "node:crypto";
import type { ClientDeclaration } from "../../src/provider/embedded/client-declaration.ts";

/** A device, which a person approves in a browser. */
export const TV: ClientDeclaration = {
  id: randomUUID(),
  name: "TV",
  flows: ["device"],
  redirectUris: [],
  postLogoutRedirectUris: [],
  asksConsent: false,
};

/** Uses the code of the device once. */
export async function pollDevice({ issuer }: { readonly issuer: string }, deviceCode: string) {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const body = new URLSearchParams({ grant_type, client_id: TV.id, device_code: deviceCode });
  const response = await fetch(`${issuer}/token`, { method: "POST", body });
  return { status: response.status, text: await response.text() };
}
