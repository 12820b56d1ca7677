import { createHash } from "node:crypto";
import type { RawRequest, RawResponse } from "svc-access/runtime";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import { PASSKEY_SCRIPT_PATH } from "../../provider/embedded/request/endpoints.ts";

/**
 * The only script of the pages. It shows the form of a passkey where the browser has them, and fills it
 * with the answer of the authenticator.
 */
const SCRIPT = `"use strict";
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const described = (list) => list.map((one) => ({ ...one, id: bytes(one.id) }));
async function answer(options) {
  const publicKey = { ...options, challenge: bytes(options.challenge) };
  if (options.user === undefined) {
    publicKey.allowCredentials = described(options.allowCredentials);
    return navigator.credentials.get({ publicKey });
  }
  publicKey.user = { ...options.user, id: bytes(options.user.id) };
  publicKey.excludeCredentials = described(options.excludeCredentials);
  return navigator.credentials.create({ publicKey });
}
function json({ id, rawId, type, authenticatorAttachment, response }) {
  const sent = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) sent[name] = text(response[name]);
  }
  return { id, rawId: text(rawId), type, authenticatorAttachment, clientExtensionResults: {}, response: sent };
}
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (window.PublicKeyCredential === undefined) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problems = form.querySelectorAll("[role=alert]");
    for (const problem of problems) problem.hidden = true;
    try {
      const found = await answer(JSON.parse(form.dataset.passkey));
      form.elements.passkey.value = JSON.stringify(json(found));
      form.submit();
    } catch (error) {
      const known = error.name === "InvalidStateError" && form.querySelector("[data-known]");
      (known || problems[0]).hidden = false;
    }
  });
}
`;

const VERSION = createHash("sha256").update(SCRIPT).digest("base64url").slice(0, 16);
const PATH = `${PROVIDER_PATH}${PASSKEY_SCRIPT_PATH}`;

/** The address of the script: another one for each version of it. */
export const PASSKEY_SCRIPT = `${PATH}?v=${VERSION}`;

/** The response with the script, if a request is for it. */
export function passkeyScript({ path, query, method }: RawRequest): RawResponse | undefined {
  if (path !== PATH || (method !== "GET" && method !== "HEAD")) return undefined;
  const isCurrent = query.get("v") === VERSION;
  return {
    status: 200,
    headers: {
      "Content-Type": "text/javascript; charset=utf-8",
      // A replica of another version has another script at this address.
      "Cache-Control": isCurrent ? "public, max-age=31536000, immutable" : "no-cache",
    },
    body: SCRIPT,
  };
}
