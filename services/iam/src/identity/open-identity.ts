import type { Kysely, ServiceDatabase } from "svc-access/database";
import {
  type AuditRecorder,
  type createAuthorizationEngine,
  createTokenVerifier,
  type Job,
  openAuditRecorder,
  type ProcessLogger,
  type ServiceMetric,
  type TokenVerifier,
} from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { MissingKeyLog } from "../ground/secrets/missing-key-log.ts";
import { storedKeyIds } from "../ground/secrets/stored-key-ids.ts";
import type { EncryptionKeyTables } from "../ground/store/encryption-key-tables.ts";
import type { FactorTables } from "../ground/store/factor-tables.ts";
import type { LoginCallbackTables } from "../ground/store/login-callback-tables.ts";
import { ProviderDatabase } from "../ground/store/provider-database.ts";
import type { ProviderTables } from "../ground/store/provider-tables.ts";
import type { ServiceAccountTables } from "../ground/store/service-account-tables.ts";
import type { IamTables } from "../ground/store/tables.ts";
import type { UserTables } from "../ground/store/user-tables.ts";
import { LoginCallbacks } from "../login/browser/login-callbacks.ts";
import type { PageDesign } from "../pages/page-design.ts";
import type { AccountTable } from "../people/accounts/account-row.ts";
import { LocalAccounts } from "../people/accounts/local-accounts.ts";
import { PasswordLogin } from "../people/accounts/password-login.ts";
import type { HashCost } from "../people/accounts/passwords/hash-text.ts";
import { PasswordHasher } from "../people/accounts/passwords/password-hasher.ts";
import { ServiceAccounts } from "../people/accounts/service-accounts/service-accounts.ts";
import { FailedAttempts } from "../people/accounts/throttle/failed-attempts.ts";
import { LoginAttempts } from "../people/accounts/throttle/login-attempts.ts";
import { LoginThrottle } from "../people/accounts/throttle/login-throttle.ts";
import type { Factors } from "../people/factors/factors.ts";
import { hasFactor } from "../people/factors/has-factor.ts";
import { openRevocationFeed } from "../people/sessions/open-revocation-feed.ts";
import { Revocations } from "../people/sessions/revocations.ts";
import type { KeyMaker } from "../provider/embedded/keys/signing-keys.ts";
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
  /** The failures that anybody can cause, for the audit. */
  readonly attempts: FailedAttempts;
  /** Says which encryption keys are missing. */
  readonly missingKeys: MissingKeyLog;
  readonly jobs: readonly Job[];
  readonly metrics: readonly ServiceMetric[];
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
  const counts = new LoginAttempts();
  const logins = new PasswordLogin({ accounts, hasher, throttle, counts });
  const isEmbedded = config.security.authn.provider === "embedded";
  const factors = isEmbedded
    ? openFactors({
        configuration,
        database: database.as<FactorTables & UserTables>(),
        engine,
        throttle,
        counts,
      })
    : undefined;
  const revocations = new Revocations(new ProviderDatabase(database.as<ProviderTables>()));
  const ended = await openRevocationFeed(revocations);
  const recorder = await openAuditRecorder(config, { database, logger });
  const attempts = new FailedAttempts({ recorder, log: logger });
  const missingKeys = new MissingKeyLog(logger, storedKeyIds(database.as<EncryptionKeyTables>()));
  const provider = await openProvider({
    configuration,
    database,
    accounts: {
      find: (id) => accounts.find(id),
      authenticate: (attempt) => logins.authenticate(attempt),
      holdPassword: (transaction, id, version) =>
        accounts.holdPassword(transaction as unknown as AccountTable, id, version),
      endLogins: (transaction, id) =>
        accounts.endLogins(transaction as unknown as AccountTable, id),
    },
    serviceAccounts,
    design,
    factors: factors && {
      factors,
      passwordVersion: (id) => accounts.passwordVersion(id),
      isHeld: (id, transaction) =>
        hasFactor((transaction ?? kysely) as unknown as Kysely<FactorTables>, id),
    },
    logger,
    recorder,
    attempts,
    counts,
    missingKeys,
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
    attempts,
    missingKeys,
    metrics: [counts.metric],
    jobs: [...provider.jobs, callbacks.job(), attempts.job(), cleanUp],
  };
}
