import type { Client, ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { LATER, LOGIN_EXPIRED, providerErrorPage, SERVER_ERROR } from "./error-pages.ts";
import { field, formToken, problemBox } from "./form-parts.ts";
import { Html, html, isolated } from "./html.ts";
import type { Page } from "./page.ts";
import type { PageView } from "./page-view.ts";
import type { MessageKey, Texts } from "./texts.ts";

/** What the pages need besides `oidc-provider`: the view of a visitor, and own tokens of forms. */
export interface PageParts {
  /** The view for the request under way. */
  view(ctx: KoaContextWithOIDC): Promise<PageView>;
  /**
   * The token of a form.
   *
   * @param path where it is sent to, below the issuer
   * @param sessionUid of the browser's session, if it has one
   * @returns undefined if it is a form of somebody else
   */
  token(path: string, sessionUid: string | undefined): string | undefined;
  /** What this browser has done before with the code of a device that the request names. */
  doneWithDevice(ctx: KoaContextWithOIDC): "approved" | "refused" | undefined;
  /** Where people come who stay logged in. */
  readonly accountPath: string;
  /** The address of `deviceDonePage`, for the browser of the request under way. */
  deviceDoneUrl(): string;
}

/** The pages that `oidc-provider` shows by itself. */
export interface Pages {
  /**
   * Replaces a page whose script submits its form at once with one that has a button: scripts are
   * not allowed here, and nothing is submitted without the person.
   */
  readonly continueByHand: (ctx: KoaContextWithOIDC) => Promise<void>;
  readonly error: (ctx: KoaContextWithOIDC, out: ErrorOut, cause?: Error) => Promise<void>;
  readonly logout: (ctx: KoaContextWithOIDC) => Promise<void>;
  readonly loggedOut: (ctx: KoaContextWithOIDC) => Promise<void>;
  readonly deviceInput: (
    ctx: KoaContextWithOIDC,
    form: string,
    out?: ErrorOut,
    error?: Error,
  ) => Promise<void>;
  readonly deviceConfirm: (
    ctx: KoaContextWithOIDC,
    form: string,
    client: Client,
    info: Readonly<Record<string, unknown>>,
    userCode: string,
  ) => Promise<void>;
  readonly deviceDone: (ctx: KoaContextWithOIDC) => Promise<void>;
}

/** The pages. */
export function providerPages(parts: PageParts): Pages {
  const send = async (ctx: KoaContextWithOIDC, page: Page): Promise<void> => {
    // Without a body the status of Koa is 404, unless it was set.
    ctx.body = "";
    const { headers, text } = (await parts.view(ctx)).show(ctx.status, page);
    ctx.set(headers);
    ctx.body = text;
  };
  const leadOn = async (ctx: KoaContextWithOIDC): Promise<void> => {
    ctx.status = 303;
    ctx.redirect(parts.deviceDoneUrl());
  };
  return {
    async continueByHand(ctx) {
      const page = pageByHand(ctx, parts);
      if (page !== undefined) await send(ctx, page);
    },

    async error(ctx, { error, error_description: description }, cause) {
      // Such as after a double click, which is not a mistake of the application.
      const isOver = cause?.name === "SessionNotFound";
      await send(ctx, providerErrorPage(error, description, isOver ? LOGIN_EXPIRED : undefined));
    },

    async logout(ctx) {
      await send(ctx, ({ say }) => ({
        title: say("Log out?"),
        leadsTo: stateOf(ctx).postLogoutRedirectUri,
        body: html`<p>${say("Your login ends here, for all applications that use it.")}</p>
<form method="post" action="${ctx.oidc.urlFor("end_session_confirm")}">
${hidden(ctx, "end_session_confirm", parts)}
<button type="submit" name="logout" value="yes">${say("Log out")}</button>
<a class="button second" href="${parts.accountPath}">${say("Stay logged in")}</a>
</form>`,
      }));
    },

    async loggedOut(ctx) {
      await send(ctx, ({ say }) => ({
        title: say("Logged out"),
        body: html`<p>${say("You can close this page.")}</p>`,
      }));
    },

    async deviceInput(ctx, _form, _out, given) {
      const before = given && isUsed(given) ? parts.doneWithDevice(ctx) : undefined;
      if (before === "approved") return leadOn(ctx);
      const problem = before === "refused" ? REFUSED : given && problemOf(given, ctx.status);
      const known = ctx.query["user_code"];
      await send(ctx, ({ say }) => ({
        title: say("Log in on a device"),
        isProblem: problem !== undefined,
        body: html`${problemBox(problem && say(problem))}
<p>${say("Enter the code that the device shows. Continue only if you have started this yourself.")}</p>
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hidden(ctx, "code_verification", parts)}
${field({
  name: "user_code",
  label: say("Code"),
  value: typeof known === "string" ? known.slice(0, 20) : "",
  isFirst: problem === undefined,
})}
<button type="submit">${say("Continue")}</button>
</form>`,
      }));
    },

    async deviceConfirm(ctx, _form, client, { ip }, userCode) {
      const name = html`<strong>${isolated(client.clientName ?? client.clientId)}</strong>`;
      const address = html`<code>${String(ip ?? "unknown")}</code>`;
      await send(ctx, ({ say }) => ({
        title: say("Log in on this device?"),
        body: html`<p>${say("{client}, at the address {address}, asks to act as you. The device must show this code:", { client: name, address })}</p>
<p><code class="code">${userCode}</code></p>
<p>${say("If you have not started this yourself, or the device shows another code, refuse.")}</p>
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hidden(ctx, "code_verification", parts)}
<input type="hidden" name="user_code" value="${userCode}">
<button type="submit" name="confirm" value="yes">${say("Continue")}</button>
<button class="second" type="submit" name="abort" value="yes">${say("Refuse")}</button>
</form>`,
      }));
    },

    deviceDone: leadOn,
  };
}

/** The page after a device was approved, which can be loaded again. */
export function deviceDonePage(): Page {
  return ({ say }) => ({
    title: say("The device is logged in"),
    body: html`<p>${say("Go back to the device. You can close this page.")}</p>`,
  });
}

/** The page with a button, in place of one whose script submits its form at once. */
function pageByHand(ctx: KoaContextWithOIDC, parts: PageParts): Page | undefined {
  const { body } = ctx;
  if (typeof body !== "string" || !body.includes("document.forms[0].submit()")) return undefined;
  const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1] ?? "";
  // They are escaped already.
  const inputs = body.match(/<input type="hidden" name="[^"<>]*" value="[^"<>]*"\/>/g) ?? [];
  const target = unescaped(action);
  const leadsTo = stateOf(ctx).postLogoutRedirectUri ?? target;
  const form = ({ say }: Texts) => html`<form method="post" action="${new Html(action)}">
${inputs.map((input) => new Html(input))}
${ownToken(ctx, target, parts)}
<button type="submit">${say("Continue")}</button>
</form>`;
  // Only a login as somebody else has a logout that nobody has asked for.
  if (target === ctx.oidc.urlFor("end_session_confirm")) {
    return (texts) => ({
      title: texts.say("Log in as somebody else?"),
      leadsTo,
      body: html`<p>${texts.say("Somebody else is logged in in this browser. That login ends, for all applications that use it, and yours continues.")}</p>
${form(texts)}`,
    });
  }
  return (texts) => ({
    title: texts.say("Continue?"),
    leadsTo,
    body: html`<p>${texts.say("One more step: press the button.")}</p>
${form(texts)}`,
  });
}

function unescaped(action: string): string {
  return action.replaceAll("&amp;", "&");
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
function hidden(ctx: KoaContextWithOIDC, route: string, parts: PageParts): Html {
  return html`<input type="hidden" name="xsrf" value="${stateOf(ctx).secret}">
${ownToken(ctx, ctx.oidc.urlFor(route), parts)}`;
}

/** Nothing for a form that is sent to somebody else. */
function ownToken(ctx: KoaContextWithOIDC, action: string, parts: PageParts): Html | undefined {
  const { issuer } = ctx.oidc.provider;
  if (!action.startsWith(`${issuer}/`)) return undefined;
  const { session } = ctx.oidc as { session?: { uid?: string } };
  const token = parts.token(action.slice(issuer.length), session?.uid);
  if (token === undefined) return undefined;
  return formToken(token);
}

const USED: MessageKey = "The code was already used. Start again on the device.";
const REFUSED: MessageKey = "The login was refused.";
const PROBLEMS: Readonly<Record<string, MessageKey>> = {
  NoCodeError: "Enter the code that the device shows.",
  NotFoundError:
    "The code is not known, or it has expired. Check it, or begin again on the device.",
  ExpiredError: "The code has expired. Start again on the device.",
  AlreadyUsedError: USED,
  InvalidGrant: USED,
  AbortedError: REFUSED,
  SessionNotFound: "The login has expired. Enter the code again.",
};

function problemOf({ name, constructor }: Error, status?: number): MessageKey {
  return PROBLEMS[name] ?? PROBLEMS[constructor.name] ?? (status === 503 ? LATER : SERVER_ERROR);
}

/** Whether a code was approved or refused before, also a moment before. */
function isUsed(error: Error): boolean {
  return problemOf(error) === USED;
}
