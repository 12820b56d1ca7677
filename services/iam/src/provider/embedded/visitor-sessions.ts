import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { requestScope } from "./request/request-scope.ts";

/** A session of `oidc-provider`. */
interface VisitorSession {
  /** Whether the request has begun it. */
  readonly new?: boolean;
  /** When it expires; undefined before it is saved. */
  readonly exp?: number;
  readonly accountId?: string;
  /** What it keeps while it shows a form. */
  state?: object;
  save(seconds: number): Promise<unknown>;
  persist(): Promise<unknown>;
}

/** The class of the sessions. */
interface VisitorSessions {
  readonly prototype: VisitorSession;
  get(ctx: unknown): Promise<VisitorSession>;
}

/**
 * Has `oidc-provider` accept a form of its own by our token alone: it would take each form once, so that the second of
 * two clicks, or a form of another tab, seems to come from another site.
 */
export function acceptOwnForms({ Session }: Provider): void {
  const sessions = Session as unknown as VisitorSessions;
  const { get } = sessions;
  sessions.get = async function (this: VisitorSessions, ctx) {
    const session = await get.call(this, ctx);
    const secret = requestScope.getStore()?.ownXsrf;
    if (secret !== undefined) session.state = { ...session.state, secret };
    return session;
  };
}

/**
 * Keeps `oidc-provider` from storing sessions that nobody needs: anybody can ask for them, without a login.
 *
 * @param current the request under way
 */
export function storeFewSessions(
  { Session }: Provider,
  current: () => KoaContextWithOIDC | undefined,
): void {
  const sessions = Session as unknown as VisitorSessions;
  const { get } = sessions;
  const { save, persist } = sessions.prototype;
  // One that a cookie names, and that is not there, would be stored by each request, also by those that fail.
  sessions.get = async function (this: VisitorSessions, ctx) {
    const session = await get.call(this, ctx);
    if (session.exp === undefined && session.new !== true) {
      Object.defineProperty(session, "new", { value: true });
    }
    return session;
  };
  sessions.prototype.save = async function (this: VisitorSession, seconds) {
    return isLogoutOfNobody(current(), this) ? undefined : save.call(this, seconds);
  };
  // 9.13 answers an error page with a form with 500 otherwise.
  sessions.prototype.persist = async function (this: VisitorSession) {
    return this.exp === undefined ? undefined : persist.call(this);
  };
}

/** Whether a request wants to end a login that its browser does not have. */
function isLogoutOfNobody(
  ctx: KoaContextWithOIDC | undefined,
  { accountId }: Pick<VisitorSession, "accountId">,
): boolean {
  return ctx?.oidc?.route === "end_session" && accountId === undefined;
}

/** Where a logout leads, if there is nothing to ask about. */
export interface LogoutOfNobody {
  /** An address that the client has registered, with the `state` of the request; undefined without one. */
  readonly location: string | undefined;
}

/** The answer to a good request for a logout from a browser that nobody is logged in with; undefined for all others. */
export function logoutOfNobody(ctx: KoaContextWithOIDC): LogoutOfNobody | undefined {
  const { session } = (ctx.oidc ?? {}) as { readonly session?: VisitorSession & LogoutState };
  if (session === undefined || ctx.status !== 200 || !isLogoutOfNobody(ctx, session)) {
    return undefined;
  }
  const { postLogoutRedirectUri, state } = session.state ?? {};
  if (postLogoutRedirectUri === undefined) return { location: undefined };
  const location = new URL(postLogoutRedirectUri);
  if (state !== undefined) location.searchParams.set("state", state);
  return { location: location.href };
}

/** What `oidc-provider` keeps in the session for the form of a logout, after it has checked the request. */
interface LogoutState {
  readonly state?: { readonly postLogoutRedirectUri?: string; readonly state?: string };
}
