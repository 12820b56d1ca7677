import {
  type CallContext,
  type ProcessLogger,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
  type TokenVerifier,
} from "svc-access/runtime";
import type { Page } from "../../pages/page.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import { redirectResponse } from "../../pages/redirect-response.ts";
import type { MessageKey } from "../../pages/texts.ts";
import type { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import type { IdentityProvider } from "../../provider/identity-provider.ts";
import { accountPage, badReturnPage, failedLoginPage } from "./browser-login-pages.ts";
import type { BrowserSessions } from "./browser-sessions.ts";
import { checkTokens, refreshTimeOf } from "./check-tokens.ts";
import { cookieLine, cookiesOf, SESSION_COOKIE } from "./cookies.ts";
import type { LoginCallbacks } from "./login-callbacks.ts";
import { ACCOUNT_PATH, CALLBACK_PATH, LOGIN_PATH, returnAddress } from "./paths.ts";
import type { PendingLogin, PendingLogins } from "./pending-logins.ts";

/** What login and callback need. */
export interface LoginHandlersOptions {
  /** `iam.public_url`. */
  readonly origin: string;
  readonly provider: IdentityProvider;
  readonly pending: PendingLogins;
  readonly callbacks: LoginCallbacks;
  readonly attempts: Pick<FailedAttempts, "record">;
  readonly sessions: BrowserSessions;
  readonly verifier: TokenVerifier;
  readonly design: PageDesign;
  /** The path of the pages of the own account, where the accounts are here. */
  readonly ownAccount: string | undefined;
  readonly logger: Pick<ProcessLogger, "error" | "warn">;
}

const EXPIRED: MessageKey =
  "It has expired, was already completed, or began in another browser. Cookies must be allowed.";
const REFUSED: MessageKey = "The identity provider has refused it.";
const DENIED: MessageKey = "It was cancelled, or the identity provider has refused it.";
const UNAVAILABLE: MessageKey =
  "The identity provider does not answer. Try again in a few minutes.";
/** Longer than any code or state. */
const LONGEST = 4096;

/** The handlers of the beginning of a login, of its callback, and of the page that it leads to. */
export function loginHandlers(options: LoginHandlersOptions): RawHandler[] {
  return [
    { path: LOGIN_PATH, handle: (request, call) => beginLogin(options, request, call) },
    { path: CALLBACK_PATH, handle: (request, call) => completeLogin(options, request, call) },
    {
      path: ACCOUNT_PATH,
      async handle(request, call) {
        if (call.principal === undefined) return redirectResponse(LOGIN_PATH);
        const view = await options.design.personalView(request, call);
        return view.response(200, accountPage(call.principal, options.ownAccount));
      },
    },
  ];
}

async function beginLogin(
  options: LoginHandlersOptions,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse> {
  const { origin, provider, pending } = options;
  const { query, headers } = request;
  const returnTo = returnAddress(origin, single(query, "return_to"));
  if (returnTo === undefined || query.getAll("return_to").length > 1) {
    return (await options.design.personalView(request, call)).response(400, badReturnPage());
  }
  if (call.principal !== undefined) return redirectResponse(returnTo);
  const { login, codeChallenge, cookies } = pending.begin(headers, returnTo);
  const { state, nonce } = login;
  const redirectUri = `${origin}${CALLBACK_PATH}`;
  try {
    const url = await provider.loginUrl({ redirectUri, state, nonce, codeChallenge }, call);
    return redirectResponse(url, { "Set-Cookie": cookies });
  } catch (error) {
    return failed(options, error, { request, call });
  }
}

async function completeLogin(
  options: LoginHandlersOptions,
  request: RawRequest,
  call: CallContext,
): Promise<RawResponse> {
  const { pending, callbacks, attempts, sessions, design } = options;
  const { query, headers } = request;
  const state = single(query, "state");
  const login = state === undefined ? undefined : pending.find(headers, state);
  const failure = async (reason: string, page: Page, headers = {}) => {
    await attempts.record(call, { event: "login.failed", details: { reason } });
    return (await design.personalView(request, call)).response(400, page, headers);
  };
  if (login === undefined) return failure("unknown", failedLoginPage(EXPIRED));
  const ended = pending.ended(login.state);
  if (!(await callbacks.isFirst(login))) {
    return failure("repeated", failedLoginPage(EXPIRED), { "Set-Cookie": ended });
  }
  const code = single(query, "code");
  // What `error` says is for developers, and whoever made the link can choose it.
  if (code === undefined || query.has("error")) {
    const problem = single(query, "error") === "access_denied" ? DENIED : REFUSED;
    return failure("denied", failedLoginPage(problem), { "Set-Cookie": ended });
  }
  try {
    const issuer = single(query, "iss");
    const { token, seconds } = await startSession(options, { login, code, issuer, query }, call);
    // The cookie may be one that somebody else has set; its session does not continue in this login.
    for (const [, old] of cookiesOf(headers, SESSION_COOKIE)) await sessions.remove(old);
    const cookie = cookieLine(SESSION_COOKIE, token, seconds);
    return redirectResponse(login.returnTo, { "Set-Cookie": [cookie, ended] });
  } catch (error) {
    return failed(options, error, { request, call, ended });
  }
}

/** What a callback brings. */
interface Callback {
  readonly login: PendingLogin;
  readonly code: string;
  readonly issuer: string | undefined;
  readonly query: URLSearchParams;
}

async function startSession(
  { origin, provider, sessions, verifier }: LoginHandlersOptions,
  { login, code, issuer, query }: Callback,
  call: CallContext,
) {
  if (query.getAll("iss").length > 1) throw new ServiceError("INVALID_ARGUMENT", "iss comes twice");
  const tokens = await provider.exchangeCode(
    {
      code,
      redirectUri: `${origin}${CALLBACK_PATH}`,
      codeVerifier: login.codeVerifier,
      nonce: login.nonce,
      issuer: issuer ?? "",
      isWholeCallback: true,
    },
    call,
  );
  const subject = await checkTokens(verifier, tokens);
  const refreshTime = refreshTimeOf(tokens.accessToken, Date.now());
  const started = await sessions.begin({ state: login.state, subject, tokens, refreshTime });
  if (started === undefined) throw new ServiceError("INVALID_ARGUMENT", "the login was completed");
  await call.audit.record({
    event: "browser_session.started",
    riskLevel: "LOW",
    resource: `${subject.subjectType}:${subject.subjectId}`,
  });
  return started;
}

/** A login that has failed. */
interface Failed {
  readonly request: RawRequest;
  readonly call: CallContext;
  /** The cookie that ends it in the browser. */
  readonly ended?: string;
}

async function failed(
  { attempts, design, logger }: LoginHandlersOptions,
  error: unknown,
  { request, call, ended }: Failed,
): Promise<RawResponse> {
  if (!(error instanceof ServiceError)) throw error;
  const isUnavailable = error.code === "UNAVAILABLE";
  const reason = isUnavailable ? "unavailable" : "refused";
  await attempts.record(call, { event: "login.failed", details: { reason } });
  // Anybody can cause one: a line without a stack, unless it is for an operator to fix.
  if (isUnavailable) request.nameCause(error);
  else logger.warn({ error: error.message }, "a login in a browser did not succeed");
  const page = failedLoginPage(isUnavailable ? UNAVAILABLE : REFUSED);
  const headers = ended === undefined ? {} : { "Set-Cookie": ended };
  // What does not answer is not asked for the look of the page, too.
  const view = isUnavailable
    ? design.view(request, call)
    : await design.personalView(request, call);
  return view.response(isUnavailable ? 503 : 400, page, headers);
}

/** The only value of a parameter; undefined if it is absent, comes twice or is too long. */
function single(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  return value === undefined || more.length > 0 || value.length > LONGEST ? undefined : value;
}
