import { FORM_TOKEN } from "../../pages/form-tokens.ts";
import { type Html, html } from "../../pages/html.ts";
import type { MessageKey, Texts } from "../../pages/texts.ts";
import { totpUri } from "./one-time-codes.ts";

/** The form of a passkey: hidden without a script, which fills it. */
export function passkeyForm(
  { say }: Texts,
  form: {
    /** Of `Passkeys`. */
    readonly options: object;
    /** Of `FormTokens`. */
    readonly token: string;
    /** What else it brings back. */
    readonly pending?: string;
    readonly button: MessageKey;
    readonly action: string;
  },
): Html {
  return html`<form method="post" hidden data-passkey="${JSON.stringify(form.options)}">
<input name="${FORM_TOKEN}" type="hidden" value="${form.token}">
<input name="action" type="hidden" value="${form.action}">
${form.pending && html`<input name="pending" type="hidden" value="${form.pending}">`}
<input name="passkey" type="hidden" value="">
<p class="alert" role="alert" hidden>${say("The passkey was not used. Try again.")}</p>
${"user" in form.options ? html`<p class="alert" role="alert" hidden data-known>${say("This device already has a passkey of your account.")}</p>` : undefined}
<button class="second" type="submit">${say(form.button)}</button>
</form>`;
}

/** A new secret, for an authenticator app: as a picture and as text. */
export async function appSecret(issuer: string, username: string, secret: string) {
  const { encode } = await import("uqr");
  const { data, size } = encode(totpUri(issuer, username, secret), { border: 2 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  const readable = (secret.match(/.{1,4}/g) ?? []).join(" ");
  return ({
    say,
  }: Texts): Html => html`<p>${say("Scan the picture with an authenticator app, or enter the key there. Then enter the code that the app shows.")}</p>
<svg class="qr" role="img" aria-label="${say("Picture of the key")}" viewBox="0 0 ${size} ${size}"><path d="${path}"/></svg>
<p>${say("Key: {key}", { key: html`<code>${readable}</code>` })}</p>`;
}

/** The recovery codes, which are shown once. */
export function recoveryCodes({ say }: Texts, codes: readonly string[]): Html {
  return html`<p>${say("Keep these codes in a safe place. Each of them works once, if you do not have your other factors. They are not shown again.")}</p>
<ul class="codes">
${codes.map((code) => html`<li><code>${code}</code></li>`)}
</ul>`;
}
