import { AsyncLocalStorage } from "node:async_hooks";
import type { BrowserIdentity } from "../../../pages/browser-identity.ts";
import type { ServiceAccountKey } from "../../../people/accounts/service-accounts/service-account.ts";
import type { ProviderCall } from "../../identity-provider.ts";

/** A document as `oidc-provider` has it. */
export type Payload = Readonly<Record<string, unknown>>;

/** What belongs to the request under way. */
export interface RequestScope {
  readonly call: ProviderCall;
  /** Names the cause of a failure in the log of the call; absent where no call answers with it. */
  readonly nameCause?: (error: unknown) => void;
  /** Whether this process asks its own provider, for a service that called it. */
  readonly isOwn?: boolean;
  /** Which browser sends it; absent where no session or login is read. */
  readonly browser?: BrowserIdentity;
  /** What the client says it is. */
  readonly userAgent?: string;
  /** The access token that was presented to be introspected or revoked. */
  readonly presented?: PresentedToken;
  /** The claim `sid` of the code or refresh token that was looked up. */
  usedSid?: string;
  /** The account that it was issued to. */
  usedAccountId?: string;
  /** Whether it has named a user code that there is. */
  hasFoundUserCode?: boolean;
  /** The field `xsrf` of a form that has a valid token of ours. */
  ownXsrf?: string;
  /** The code of a device that the request names, if this browser has approved or refused it. */
  ownDeviceCode?: { readonly accountId: string | undefined; readonly isRefused: boolean };
  /** Whether the device that the request approves was approved before. */
  isApprovedBefore?: boolean;
  /** The key of a service account that the client has authenticated with. */
  usedKey?: ServiceAccountKey;
  /** The login that the request completes. */
  completedLogin?: CompletedLogin;
  /** What the session says of the client of a device that is being approved. */
  keptAuthorization?: { readonly clientId: string; readonly before: object | undefined };
  /** Audit events and revocations that are being stored: the response waits for them. */
  readonly pending: Promise<unknown>[];
  /** Those among them without which the request fails. */
  readonly required: Promise<unknown>[];
}

/** A login whose password was right. */
export interface CompletedLogin {
  readonly accountId: string;
  /** Of the password that was entered. */
  readonly passwordVersion: number;
  /** Whether it has used a second factor. */
  readonly usesFactor: boolean;
  /** The client that it was begun at; absent where it was completed by an earlier request, such as before a consent. */
  readonly newAt?: string;
}

/** An access token of ours, verified. */
export interface PresentedToken {
  /** What `oidc-provider` is given in its place; it does not handle JWTs. */
  readonly handle: string;
  /** `AccessToken` or `ClientCredentials`. */
  readonly model: string;
  /** As if it were stored. */
  readonly payload: Payload;
}

/** The request under way, in code that `oidc-provider` calls. */
export const requestScope = new AsyncLocalStorage<RequestScope>();
