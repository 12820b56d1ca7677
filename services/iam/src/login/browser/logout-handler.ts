import {
  type CallContext,
  type ProcessLogger,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { foreignFormPage, wantsPage } from "../../pages/error-pages.ts";
import type { FormTokens } from "../../pages/form-tokens.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import { redirectResponse } from "../../pages/redirect-response.ts";
import { formFields } from "../../pages/sent-forms.ts";
import type { IdentityProvider } from "../../provider/identity-provider.ts";
import { leavingPage, loggedOutPage, logoutPage } from "./browser-login-pages.ts";
import type { BrowserSession, BrowserSessions } from "./browser-sessions.ts";
import { cookieOf, removedCookie, SESSION_COOKIE } from "./cookies.ts";
import { LOGOUT_PATH } from "./paths.ts";
import { explainMissingKey } from "./session-errors.ts";

/** What logout needs. */
export interface LogoutHandlerOptions {
  /** `iam.public_url`. */
  readonly origin: string;
  readonly provider: Pick<IdentityProvider, "endLogin">;
  readonly sessions: BrowserSessions;
  readonly forms: FormTokens;
  readonly design: PageDesign;
  readonly logger: Pick<ProcessLogger, "error" | "warn">;
}

const FORM = "logout";

/** The handler of logout: a page with a button, since a link of another site must not end a login. */
export function logoutHandler(options: LogoutHandlerOptions): RawHandler {
  return {
    path: LOGOUT_PATH,
    handle: (request, call) =>
      request.method === "POST" ? logOut(options, request, call) : show(options, request, call),
  };
}

async function show(
  { forms, design }: LogoutHandlerOptions,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse> {
  const { principal } = call;
  const view = await design.personalView(request, call);
  const browser = cookieOf(request.headers, SESSION_COOKIE);
  if (principal === undefined || browser === undefined) return view.response(200, loggedOutPage());
  return view.response(200, logoutPage(principal, forms.issue({ form: FORM, browser })));
}

async function logOut(
  options: LogoutHandlerOptions,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse> {
  const { origin, sessions, forms, design, logger } = options;
  const cookie = cookieOf(request.headers, SESSION_COOKIE);
  const removed = { "Set-Cookie": removedCookie(SESSION_COOKIE) };
  if (cookie === undefined) return redirectResponse(LOGOUT_PATH);
  if (!forms.isValid(await formFields(request), { form: FORM, browser: cookie })) {
    const refusal = "the form was not shown in this browser, or has expired";
    if (!wantsPage(request)) throw new ServiceError("FORBIDDEN", refusal);
    const view = await design.personalView(request, call);
    return view.response(403, foreignFormPage(LOGOUT_PATH));
  }
  const session = await sessions.endOf(cookie).catch((error: unknown) => {
    throw explainMissingKey(error, logger);
  });
  if (session === undefined) return redirectResponse(LOGOUT_PATH, removed);
  await call.audit.record({
    event: "browser_session.ended",
    riskLevel: "LOW",
    resource: `${session.subjectType}:${session.subjectId}`,
  });
  const next = await endAtProvider(options, session, call);
  if (next === undefined) return redirectResponse(`${origin}${LOGOUT_PATH}`, removed);
  // Not a redirect: `form-action` of the form's page applies to all that follow, wherever they lead.
  const headers = { ...removed, Refresh: `0; url=${next}` };
  return (await design.personalView(request, call)).response(200, leavingPage(next), headers);
}

/** Here the login has ended; the provider may not answer. */
async function endAtProvider(
  { origin, provider, logger }: LogoutHandlerOptions,
  { tokens }: BrowserSession,
  call: CallContext,
): Promise<string | undefined> {
  try {
    return await provider.endLogin(tokens, `${origin}${LOGOUT_PATH}`, call);
  } catch (error) {
    logger.warn({ error }, "the login at the identity provider may not have ended");
    return undefined;
  }
}
