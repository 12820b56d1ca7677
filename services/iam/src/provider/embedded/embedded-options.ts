import type { AuditRecorder } from "svc-access/runtime";
import type { MissingKeys } from "../../ground/secrets/missing-key-log.ts";
import type { SecretBox } from "../../ground/secrets/secret-box.ts";
import type { OpenedDatabase } from "../../ground/store/provider-database.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import type { Accounts } from "../../people/accounts/accounts.ts";
import type { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import type { LoginAttempts } from "../../people/accounts/throttle/login-attempts.ts";
import type { ProviderFactors } from "../../people/factors/provider-factors.ts";
import type { Revocations } from "../../people/sessions/revocations.ts";
import type { ClientDeclaration } from "./client-declaration.ts";
import type { KeyMaker, SigningKeyTimes } from "./keys/signing-keys.ts";
import type { ServiceAccountLogins } from "./service-accounts/account-client.ts";

/** A log, such as that of the process. */
export interface ProviderLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Clients that may be changed while the provider runs. */
export interface CurrentClients {
  /** Those of the moment. */
  readonly all: readonly ClientDeclaration[];
  /** Reads them again. @returns a text that is another one if they were changed */
  refresh(): Promise<string>;
}

/** How long logins last, in milliseconds. */
export interface LoginTimes {
  /** Without a login or refresh. */
  readonly idleMs: number;
  /** At most. */
  readonly absoluteMs: number;
}

/** The options of the embedded provider. */
export interface EmbeddedProviderOptions {
  /** `iam.public_url`: an origin. Headers of requests never decide it. */
  readonly publicUrl: string;
  /** `iam.organization`. */
  readonly organization: string;
  /** Those that never change, or those of a moment. */
  readonly clients: readonly ClientDeclaration[] | CurrentClients;
  readonly accounts: Accounts;
  /** The service accounts that are made while it runs. */
  readonly serviceAccounts?: ServiceAccountLogins;
  /** With the tables of the provider. */
  readonly database: OpenedDatabase;
  readonly box: SecretBox;
  /** Those of the process, if something else reads them too. */
  readonly revocations?: Revocations;
  /** The second factors of its users; without them, passwords are enough. */
  readonly factors?: ProviderFactors;
  /** The look of its pages. */
  readonly design?: PageDesign;
  /** While the clock has a problem, nothing is issued. */
  readonly clock?: { readonly problem: string | undefined };
  readonly log: ProviderLog;
  /** Records events outside of a request, which has an audit of its own. */
  readonly audit?: Pick<AuditRecorder, "record">;
  /** Records failures that anybody can cause, with those of the other parts of the process. */
  readonly attempts?: FailedAttempts;
  /** Counts the attempts of clients to authenticate, for the metrics. */
  readonly counts?: LoginAttempts;
  /** Says which encryption keys are missing, with the other parts of the process; by default nobody does. */
  readonly missingKeys?: MissingKeys;
  readonly loginTimes?: LoginTimes;
  readonly keyTimes?: SigningKeyTimes;
  /** How long a client has to answer a notice of a logout, for tests; 3000 by default. */
  readonly fetchTimeoutMs?: number;
  /** Makes the signing keys, for tests. */
  readonly newKey?: KeyMaker;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
}

const DAY = 86_400_000;

/** A browser that is used on most days stays logged in for a month. */
export const LOGIN_TIMES: LoginTimes = { idleMs: 3 * DAY, absoluteMs: 30 * DAY };

/** The name of the cookie of the provider's own session. */
export function sessionCookieName(publicUrl: string): string {
  return `${publicUrl.startsWith("https:") ? "__Secure-" : ""}iam_session`;
}

/** The clients of the moment. */
export function clientsOf({
  clients,
}: Pick<EmbeddedProviderOptions, "clients">): readonly ClientDeclaration[] {
  return "all" in clients ? clients.all : clients;
}
