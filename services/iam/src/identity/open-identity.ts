import type { ServiceDatabase } from "svc-access/database";
import {
  type AuditRecorder,
  type createAuthorizationEngine,
  createTokenVerifier,
  type Job,
  openAuditRecorder,
  type ProcessLogger,
  type TokenVerifier,
} from "svc-access/runtime";
import type { AccountTable } from "../accounts/account-row.ts";
import { LocalAccounts } from "../accounts/local-accounts.ts";
import { PasswordLogin } from "../accounts/password-login.ts";
import type { HashCost } from "../accounts/passwords/hash-text.ts";
import { PasswordHasher } from "../accounts/passwords/password-hasher.ts";
import { ServiceAccounts } from "../accounts/service-accounts/service-accounts.ts";
import { LoginThrottle } from "../accounts/throttle/login-throttle.ts";
import { LoginCallbacks } from "../browser-login/login-callbacks.ts";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import type { Factors } from "../factors/factors.ts";
import type { PageDesign } from "../pages/page-design.ts";
import type { KeyMaker } from "../provider/embedded/keys/signing-keys.ts";
import { openRevocationFeed } from "../sessions/open-revocation-feed.ts";
import { Revocations } from "../sessions/revocations.ts";
import type { FactorTables } from "../store/factor-tables.ts";
import type { LoginCallbackTables } from "../store/login-callback-tables.ts";
import { ProviderDatabase } from "../store/provider-database.ts";
import type { ProviderTables } from "../store/provider-tables.ts";
import type { ServiceAccountTables } from "../store/service-account-tables.ts";
import type { IamTables } from "../store/tables.ts";
import type { UserTables } from "../store/user-tables.ts";
import { openFactors } from "./open-factors.ts";
import { type OpenedProvider, openProvider } from "./open-provider.ts";

/** What is open before the parts of the service are. */
export interface Opened {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<IamTables>;
  readonly engine: Awaited<ReturnType<typeof createAuthorizationEngine>>;
  /** The look of the pages. */
  readonly design: PageDesign;
  readonly logger: ProcessLogger;
}

/** Who people are: accounts, logins, tokens and their end. */
export interface OpenedIdentity {
  readonly accounts: LocalAccounts;
  readonly serviceAccounts: ServiceAccounts;
  readonly hasher: PasswordHasher;
  readonly logins: PasswordLogin;
  /** The second factors of local users; undefined where another provider has them. */
  readonly factors: Factors | undefined;
  readonly revocations: Revocations;
  readonly ended: Awaited<ReturnType<typeof openRevocationFeed>>;
  readonly recorder: AuditRecorder;
  readonly provider: OpenedProvider;
  readonly verifier: TokenVerifier;
  readonly callbacks: LoginCallbacks;
  readonly jobs: readonly Job[];
}

/** What tests replace, since it costs much processor time, and an operator without a server. */
export interface Shortcuts {
  /** Wraps the engine of the configuration. */
  readonly engine?: ((engine: Opened["engine"]) => Opened["engine"]) | undefined;
  /** Makes the signing keys of the embedded provider. */
  readonly newKey?: KeyMaker | undefined;
  /** The cost of new hashes of passwords. */
  readonly hashCost?: HashCost | undefined;
}

/**
 * Opens accounts and the identity provider of the configuration.
 *
 * @throws EncryptionKeyError or StartUpError where the provider cannot start
 */
export async function openIdentity(
  { configuration, database, engine, design, logger }: Opened,
  { newKey, hashCost }: Shortcuts,
): Promise<OpenedIdentity> {
  const { config, sections } = configuration;
  const { kysely } = database;
  const accounts = new LocalAccounts(kysely, sections.iam.organization);
  const serviceAccounts = new ServiceAccounts(database.as<ServiceAccountTables>());
  const hasher = new PasswordHasher(hashCost);
  const throttle = new LoginThrottle(kysely);
  const logins = new PasswordLogin({ accounts, hasher, throttle });
  const isEmbedded = config.security.authn.provider === "embedded";
  const factors = isEmbedded
    ? openFactors({
        configuration,
        database: database.as<FactorTables & UserTables>(),
        engine,
        throttle,
      })
    : undefined;
  const revocations = new Revocations(new ProviderDatabase(database.as<ProviderTables>()));
  const ended = await openRevocationFeed(revocations);
  const recorder = await openAuditRecorder(config, { database, logger });
  const provider = await openProvider({
    configuration,
    database,
    accounts: {
      find: (id) => accounts.find(id),
      authenticate: (attempt) => logins.authenticate(attempt),
      holdPassword: (transaction, id, version) =>
        accounts.holdPassword(transaction as unknown as AccountTable, id, version),
    },
    serviceAccounts,
    design,
    factors: factors && {
      factors,
      passwordVersion: (id) => accounts.passwordVersion(id),
    },
    logger,
    recorder,
    revocations,
    clock: ended.clock,
    newKey,
  });
  const { keySet } = provider;
  const verifier = createTokenVerifier(config, {
    revocations: ended.feed,
    logger,
    ...(keySet === undefined ? {} : { keySet }),
  });
  const callbacks = new LoginCallbacks(database.as<LoginCallbackTables>());
  const cleanUp: Job = {
    name: "throttle_clean_up",
    every: "10m",
    run: (signal) => throttle.removeForgotten(signal),
  };
  return {
    accounts,
    serviceAccounts,
    hasher,
    logins,
    factors,
    revocations,
    ended,
    recorder,
    provider,
    verifier,
    callbacks,
    jobs: [...provider.jobs, callbacks.job(), cleanUp],
  };
}
