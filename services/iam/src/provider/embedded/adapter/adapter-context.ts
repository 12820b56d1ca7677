import type { KoaContextWithOIDC } from "oidc-provider";
import type { Transaction } from "svc-access/database";
import type { Accounts } from "../../../accounts/accounts.ts";
import type { ProviderTables } from "../../../store/provider-tables.ts";
import { clientDetails } from "../request/client-details.ts";
import type { ProviderEvent } from "../request/provider-events.ts";
import { type EventSinks, recordEvent } from "../request/record-event.ts";
import { type CompletedLogin, type Payload, requestScope } from "../request/request-scope.ts";
import type { ProviderStores } from "./provider-stores.ts";
import type { Requester } from "./seen-session.ts";

type Oidc = typeof import("oidc-provider");
type ReuseEvent = Extract<ProviderEvent["event"], `${string}.reused`>;

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
  /** The error by which a request with a used token, code or assertion is refused. */
  usedBefore(model: string): Error;
  /** A token or code was used again: its grant has ended. */
  reused(reuse: Reuse): Promise<void>;
  /**
   * Whether a session of an account may be stored: a login that the request completes needs the password
   * with which it began.
   */
  mayStore(transaction: Transaction<ProviderTables>, accountId: string): Promise<boolean>;
  /** The error by which a request of a session that was ended meanwhile is refused. */
  sessionEnded(): Error;
  /** Who is at the other end of the request under way. */
  requester(): Requester;
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
  options: EventSinks & { readonly accounts: Pick<Accounts, "holdPassword"> },
  { revocations }: Pick<ProviderStores, "revocations">,
): AdapterContext {
  const current = () => Provider.ctx as KoaContextWithOIDC | undefined;
  return {
    hasAssertion: () => current()?.oidc.params?.["client_assertion"] !== undefined,
    rotatedRefreshToken: () => current()?.oidc.entities.RotatedRefreshToken?.jti,
    presentedToken(model, id) {
      const presented = requestScope.getStore()?.presented;
      return presented?.model === model && presented.handle === id ? presented.payload : undefined;
    },
    found(model, payload) {
      const { sid } = payload;
      const scope = requestScope.getStore();
      const login = model === "Interaction" ? loginOf(payload) : undefined;
      if (scope && login) scope.completedLogin = login;
      if (scope && REUSE_EVENTS[model] && typeof sid === "string") scope.usedSid = sid;
    },
    foundUserCode() {
      const scope = requestScope.getStore();
      if (scope) scope.hasFoundUserCode = true;
    },
    usedBefore: (model) =>
      model === "ReplayDetection"
        ? new errors.InvalidClientAuth("client assertion tokens must only be used once")
        : new errors.InvalidGrant("it was already used"),
    async mayStore(transaction, accountId) {
      const login = requestScope.getStore()?.completedLogin;
      if (login === undefined || login.accountId !== accountId) return true;
      return options.accounts.holdPassword(transaction, accountId, login.passwordVersion);
    },
    sessionEnded: () => new errors.SessionNotFound("the session was ended"),
    requester() {
      const scope = requestScope.getStore();
      return { address: scope?.call.clientAddress ?? "", userAgent: scope?.userAgent ?? "" };
    },
    async reused({ model, accountId, sid }) {
      recordEvent(options, {
        event: REUSE_EVENTS[model] ?? "refresh_token.reused",
        riskLevel: "HIGH",
        ...(accountId === undefined ? {} : { accountId }),
        ...clientDetails(current()),
      });
      // Somebody else may have an access token, too.
      if (sid !== undefined) await revocations.revoke({ kind: "sid", value: sid });
    },
    async tokenRevoked(_model, id) {
      const payload = requestScope.getStore()?.presented?.payload;
      if (payload?.["jti"] !== id) return;
      await revocations.revoke({ kind: "jti", value: id });
      recordEvent(options, { event: "token.revoked", riskLevel: "LOW" });
    },
  };
}

/** The login of an interaction whose page was answered; one of another version of the service has none that counts. */
function loginOf({ result }: Payload): CompletedLogin | undefined {
  const { login } = (result ?? {}) as { readonly login?: Payload };
  if (login === undefined) return undefined;
  const { accountId, passwordVersion } = login;
  return {
    accountId: String(accountId),
    passwordVersion: typeof passwordVersion === "number" ? passwordVersion : -1,
  };
}
