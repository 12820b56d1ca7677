import type { KoaContextWithOIDC } from "oidc-provider";
import type { Transaction } from "svc-access/database";
import type { ProviderTables } from "../../../ground/store/provider-tables.ts";
import type { Accounts } from "../../../people/accounts/accounts.ts";
import { usesFactor } from "../../../people/factors/has-factor.ts";
import type { ProviderFactors } from "../../../people/factors/provider-factors.ts";
import { clientDetails, recordEvent } from "../request/provider-events.ts";
import { type CompletedLogin, type Payload, requestScope } from "../request/request-scope.ts";
import type { ProviderStores } from "./provider-stores.ts";
import { ReusedTokens, type ReusedTokensOptions, type ReuseEvent } from "./reused-tokens.ts";
import type { Requester } from "./seen-session.ts";
import { TokenRevocations } from "./token-revocations.ts";

type Oidc = typeof import("oidc-provider");

/** What the adapter needs from outside the database. */
export interface AdapterContext {
  /** Whether the client of the request under way authenticates by an assertion. */
  hasAssertion(): boolean;
  /** The id of the refresh token that the request under way uses. */
  rotatedRefreshToken(): string | undefined;
  /** The access token that the request under way has presented, where `oidc-provider` looks for it. */
  presentedToken(model: string, id: string): Payload | undefined;
  /** The request under way has looked a document up. */
  found(model: string, payload: Payload): void;
  /** It has named a user code that there is. */
  foundUserCode(): void;
  /** The code of a device that this browser has approved or refused before. */
  foundOwnDeviceCode(code: {
    readonly accountId: string | undefined;
    readonly isRefused: boolean;
  }): void;
  /** The device that the request approves was approved before, for the same person. */
  approvedBefore(): void;
  /** The error by which a request with a used token, code or assertion is refused. */
  usedBefore(model: string): Error;
  /** A token or code was used again: its grant has ended. */
  reused(reuse: Reuse): Promise<void>;
  /**
   * Whether a login that the request completes is enough for an account, as to the roles that require a second factor:
   * it may have waited since the password was right.
   *
   * @throws AuthzError where nobody can say
   */
  isLoginEnough(accountId: string): Promise<boolean>;
  /**
   * Whether a session of an account may be stored: a login that the request completes needs the password
   * with which it began, and has used a second factor if, and only if, the account has one.
   */
  mayStore(transaction: Transaction<ProviderTables>, accountId: string): Promise<boolean>;
  /** The session of an account is stored: a login that the request completes has succeeded. */
  loginStored(accountId: string): void;
  /** The error by which a request of a session that was ended meanwhile is refused. */
  sessionEnded(): Error;
  /** The hash of the browser that sends the request under way; undefined outside of requests of browsers. */
  browser(): string | undefined;
  /** Who is at the other end of the request under way. */
  requester(): Requester;
  /**
   * The client may revoke a token of this person or service account now.
   *
   * @throws the error by which it is refused
   */
  mayRevoke(subject: string): Promise<void>;
  /** An access token is to be revoked by its client. */
  tokenRevoked(model: string, id: string): Promise<void>;
}

/** A token or code that was used again. */
export interface Reuse {
  /** `RefreshToken`, `AuthorizationCode` or `DeviceCode`. */
  readonly model: string;
  readonly accountId: string | undefined;
  readonly grantId: string | undefined;
  /** The claim `sid` of what it has issued. */
  readonly sid: string | undefined;
}

const REUSE_EVENTS: Readonly<Record<string, ReuseEvent>> = {
  RefreshToken: "refresh_token.reused",
  AuthorizationCode: "authorization_code.reused",
  DeviceCode: "device_code.reused",
};

/** What the adapters of a provider need of the request under way. */
export function adapterContext(
  { errors, Provider }: Oidc,
  options: ReusedTokensOptions & {
    readonly accounts: Pick<Accounts, "holdPassword">;
    readonly factors?: Pick<ProviderFactors, "factors" | "isHeld">;
  },
  { revocations }: Pick<ProviderStores, "revocations">,
): AdapterContext {
  const allowed = new TokenRevocations(options.database, options.now);
  const reusedTokens = new ReusedTokens(options, revocations);
  const current = () => Provider.ctx as KoaContextWithOIDC | undefined;
  return {
    hasAssertion: () => current()?.oidc.params?.["client_assertion"] !== undefined,
    rotatedRefreshToken: () => current()?.oidc.entities.RotatedRefreshToken?.jti,
    presentedToken(model, id) {
      const presented = requestScope.getStore()?.presented;
      return presented?.model === model && presented.handle === id ? presented.payload : undefined;
    },
    found(model, payload) {
      const { sid, accountId } = payload;
      const scope = requestScope.getStore();
      const login = model === "Interaction" ? loginOf(payload) : undefined;
      if (scope && login) scope.completedLogin = login;
      if (scope === undefined || REUSE_EVENTS[model] === undefined) return;
      if (typeof sid === "string") scope.usedSid = sid;
      if (typeof accountId === "string") scope.usedAccountId = accountId;
    },
    foundUserCode() {
      const scope = requestScope.getStore();
      if (scope) scope.hasFoundUserCode = true;
    },
    foundOwnDeviceCode(code) {
      const scope = requestScope.getStore();
      if (scope) scope.ownDeviceCode = code;
    },
    approvedBefore() {
      const scope = requestScope.getStore();
      if (scope) scope.isApprovedBefore = true;
    },
    usedBefore: (model) =>
      model === "ReplayDetection"
        ? new errors.InvalidClientAuth("client assertion tokens must only be used once")
        : new errors.InvalidGrant("it was already used"),
    async isLoginEnough(accountId) {
      const scope = requestScope.getStore();
      const login = scope?.completedLogin;
      if (scope === undefined || login?.newAt === undefined || login.accountId !== accountId)
        return true;
      if (login.usesFactor || options.factors === undefined) return true;
      return !(await options.factors.factors.isRequired(accountId, scope.call.signal));
    },
    async mayStore(transaction, accountId) {
      const login = requestScope.getStore()?.completedLogin;
      if (login === undefined || login.accountId !== accountId) return true;
      const { passwordVersion, usesFactor, newAt } = login;
      if (!(await options.accounts.holdPassword(transaction, accountId, passwordVersion)))
        return false;
      if (newAt === undefined || options.factors === undefined) return true;
      // One may have been added or removed since the password was right.
      return usesFactor === (await options.factors.isHeld(accountId, transaction));
    },
    loginStored(accountId) {
      const scope = requestScope.getStore();
      const login = scope?.completedLogin;
      if (scope === undefined || login?.newAt === undefined || login.accountId !== accountId)
        return;
      const { newAt: client, ...stored } = login;
      scope.completedLogin = stored;
      const details = { client };
      recordEvent(options, { event: "login.succeeded", riskLevel: "LOW", accountId, details });
    },
    sessionEnded: () => new errors.SessionNotFound("the session was ended"),
    browser: () => requestScope.getStore()?.browser?.hash,
    requester() {
      const scope = requestScope.getStore();
      return { address: scope?.call.clientAddress ?? "", userAgent: scope?.userAgent ?? "" };
    },
    async reused({ model, accountId, sid }) {
      const event = REUSE_EVENTS[model] ?? "refresh_token.reused";
      reusedTokens.record({ event, accountId, ...clientDetails(current()) });
      await reusedTokens.end({ accountId, sid });
    },
    async mayRevoke(subject) {
      const ctx = current();
      if (ctx?.oidc.route !== "revocation") return;
      const seconds = await allowed.begin(subject, ctx.oidc.client?.clientId ?? "");
      if (seconds === undefined) return;
      ctx.set("Retry-After", String(seconds));
      const text = "this client has revoked too many tokens of this subject";
      // `slow_down` is for devices that poll (RFC 8628).
      const refusal = new errors.CustomOIDCProviderError("temporarily_unavailable", text);
      throw Object.assign(refusal, { status: 429, statusCode: 429 });
    },
    async tokenRevoked(_model, id) {
      const payload = requestScope.getStore()?.presented?.payload;
      if (payload?.["jti"] !== id) return;
      await this.mayRevoke(String(payload["accountId"] ?? payload["clientId"]));
      await revocations.revoke({ kind: "jti", value: id });
      const { accountId } = payload;
      recordEvent(options, {
        event: "token.revoked",
        riskLevel: "LOW",
        ...(typeof accountId === "string" ? { accountId } : {}),
        ...clientDetails(current(), { kind: "access_token" }),
      });
    },
  };
}

/** The login of an interaction whose page was answered; one of another version of the service has none that counts. */
function loginOf({ result, prompt, params }: Payload): CompletedLogin | undefined {
  const { login } = (result ?? {}) as { readonly login?: Payload };
  if (login === undefined) return undefined;
  const { accountId, passwordVersion, amr } = login;
  return {
    accountId: String(accountId),
    passwordVersion: typeof passwordVersion === "number" ? passwordVersion : -1,
    usesFactor: usesFactor(amr),
    // The result of a consent has the login before it too.
    ...((prompt as Payload | undefined)?.["name"] === "login"
      ? { newAt: String((params as Payload | undefined)?.["client_id"]) }
      : {}),
  };
}
