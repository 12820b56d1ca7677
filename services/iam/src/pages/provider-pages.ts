import type { Client, ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { FORM_TOKEN } from "./form-tokens.ts";
import { Html, html } from "./html.ts";
import { type Page, pageHeaders, pageText } from "./page.ts";

/** The own tokens of forms, besides those of `oidc-provider`. */
export interface PageForms {
  /**
   * The token of a form.
   *
   * @param path where it is sent to, below the issuer
   * @param sessionId of the browser's session, if it has one
   * @returns undefined if it is a form of somebody else
   */
  token(path: string, sessionId: string | undefined): string | undefined;
}

/** The pages that `oidc-provider` shows by itself. */
export interface Pages {
  /**
   * Replaces a page whose script submits its form at once with one that has a button: scripts are
   * not allowed here, and nothing is submitted without the person.
   */
  readonly continueByHand: (ctx: KoaContextWithOIDC) => void;
  readonly error: (ctx: KoaContextWithOIDC, out: ErrorOut) => void;
  readonly logout: (ctx: KoaContextWithOIDC) => void;
  readonly loggedOut: (ctx: KoaContextWithOIDC) => void;
  readonly deviceInput: (
    ctx: KoaContextWithOIDC,
    form: string,
    out?: ErrorOut,
    error?: Error,
  ) => void;
  readonly deviceConfirm: (
    ctx: KoaContextWithOIDC,
    form: string,
    client: Client,
    info: Readonly<Record<string, unknown>>,
    userCode: string,
  ) => void;
  readonly deviceDone: (ctx: KoaContextWithOIDC) => void;
}

const SERVER_ERROR =
  "The service could not complete the request. Try again; if it fails again, tell its operators when it happened.";

/** The pages, in plain HTML. */
export function providerPages(forms: PageForms): Pages {
  return {
    continueByHand: (ctx) => continueByHand(ctx, forms),

    error(ctx, out) {
      const text = out.error === "server_error" ? SERVER_ERROR : out.error_description;
      send(ctx, {
        title: "The request was refused",
        body: html`<p>${text ?? "It is not valid."}</p>
<p>Error: <code>${out.error}</code></p>`,
      });
    },

    logout(ctx) {
      const leadsTo = stateOf(ctx).postLogoutRedirectUri;
      send(ctx, {
        title: "Log out?",
        leadsTo,
        body: html`<form method="post" action="${ctx.oidc.urlFor("end_session_confirm")}">
${hidden(ctx, "end_session_confirm", forms)}
<button type="submit" name="logout" value="yes">Log out</button>
<button type="submit">Stay logged in</button>
</form>`,
      });
    },

    loggedOut(ctx) {
      send(ctx, { title: "Logged out", body: html`<p>You can close this page.</p>` });
    },

    deviceInput(ctx, _form, _out, error) {
      const known = ctx.query["user_code"];
      const message =
        error === undefined
          ? html`<p>Enter the code that the device shows. Continue only if you have started this yourself.</p>`
          : html`<p>${problemOf(error)}</p>`;
      send(ctx, {
        title: "Log in on a device",
        body: html`${message}
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hidden(ctx, "code_verification", forms)}
<label>Code <input name="user_code" autocomplete="off" required value="${typeof known === "string" ? known.slice(0, 20) : ""}"></label>
<button type="submit">Continue</button>
</form>`,
      });
    },

    deviceConfirm(ctx, _form, client, { ip }, userCode) {
      send(ctx, {
        title: "Log in on this device?",
        body: html`<p><strong>${client.clientName ?? client.clientId}</strong>, at the address <code>${String(ip ?? "unknown")}</code>, asks to act as you. The device must show this code:</p>
<p><code>${userCode}</code></p>
<p>If you have not started this yourself, or the device shows another code, refuse.</p>
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hidden(ctx, "code_verification", forms)}
<input type="hidden" name="user_code" value="${userCode}">
<button type="submit" name="confirm" value="yes">Continue</button>
<button type="submit" name="abort" value="yes">Refuse</button>
</form>`,
      });
    },

    deviceDone(ctx) {
      send(ctx, {
        title: "The device is logged in",
        body: html`<p>Go back to the device. You can close this page.</p>`,
      });
    },
  };
}

function continueByHand(ctx: KoaContextWithOIDC, forms: PageForms): void {
  const { body } = ctx;
  if (typeof body !== "string" || !body.includes("document.forms[0].submit()")) return;
  const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1] ?? "";
  // They are escaped already.
  const inputs = body.match(/<input type="hidden" name="[^"<>]*" value="[^"<>]*"\/>/g) ?? [];
  send(ctx, {
    title: "Continue?",
    leadsTo: stateOf(ctx).postLogoutRedirectUri ?? unescaped(action),
    body: html`<form method="post" action="${new Html(action)}">
${inputs.map((input) => new Html(input))}
${ownToken(ctx, unescaped(action), forms)}
<button type="submit">Continue</button>
</form>`,
  });
}

function unescaped(action: string): string {
  return action.replaceAll("&amp;", "&");
}

function send(ctx: KoaContextWithOIDC, page: Page): void {
  ctx.set(pageHeaders(page));
  ctx.body = pageText(page);
}

/** What `oidc-provider` keeps in the session while it shows a form. */
interface FormState {
  readonly secret?: string;
  readonly postLogoutRedirectUri?: string;
}

function stateOf(ctx: KoaContextWithOIDC): FormState {
  return ((ctx.oidc as { session?: { state?: FormState } } | undefined)?.session?.state ??
    {}) as FormState;
}

/** The hidden fields of a form: the token of `oidc-provider`, and our own. */
function hidden(ctx: KoaContextWithOIDC, route: string, forms: PageForms): Html {
  return html`<input type="hidden" name="xsrf" value="${stateOf(ctx).secret}">
${ownToken(ctx, ctx.oidc.urlFor(route), forms)}`;
}

/** Nothing for a form that is sent to somebody else. */
function ownToken(ctx: KoaContextWithOIDC, action: string, forms: PageForms): Html | undefined {
  const { issuer } = ctx.oidc.provider;
  if (!action.startsWith(`${issuer}/`)) return undefined;
  const { session } = ctx.oidc as { session?: { id?: string } };
  const token = forms.token(action.slice(issuer.length), session?.id);
  if (token === undefined) return undefined;
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${token}">`;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  NoCodeError: "Enter the code that the device shows.",
  NotFoundError: "The code is not known. Check it and try again.",
  ExpiredError: "The code has expired. Start again on the device.",
  AlreadyUsedError: "The code was already used. Start again on the device.",
  AbortedError: "The login was refused.",
};

function problemOf(error: Error): string {
  return PROBLEMS[error.name] ?? PROBLEMS[error.constructor.name] ?? SERVER_ERROR;
}
