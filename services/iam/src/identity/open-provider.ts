import type { ServiceDatabase } from "svc-access/database";
import type { AuditRecorder, Job, ProcessLogger, RawHandler } from "svc-access/runtime";
import type { IamConfig } from "../config/iam-config.ts";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { OWN_ACCOUNT_PATH } from "../config/provider-paths.ts";
import type { MissingKeyLog } from "../ground/secrets/missing-key-log.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../ground/secrets/secret-box.ts";
import type { ProviderTables } from "../ground/store/provider-tables.ts";
import type { IamTables } from "../ground/store/tables.ts";
import { CALLBACK_PATH } from "../login/browser/paths.ts";
import { providerHandlers } from "../login/interaction/interactions.ts";
import type { PageDesign } from "../pages/page-design.ts";
import type { Accounts } from "../people/accounts/accounts.ts";
import type { FailedAttempts } from "../people/accounts/throttle/failed-attempts.ts";
import type { LoginAttempts } from "../people/accounts/throttle/login-attempts.ts";
import type { ProviderFactors } from "../people/factors/provider-factors.ts";
import type { DatabaseClock } from "../people/sessions/database-clock.ts";
import type { Revocations } from "../people/sessions/revocations.ts";
import type { UserSessions } from "../people/sessions/user-sessions.ts";
import type { Visitors } from "../people/sessions/visitors.ts";
import { openCasdoor } from "../provider/casdoor/open-casdoor.ts";
import type { Directory } from "../provider/directory.ts";
import { refuseTakenIds } from "../provider/embedded/client-ids.ts";
import { DeclaredClients } from "../provider/embedded/declared-clients.ts";
import { OwnClient } from "../provider/embedded/embedded-identity-provider.ts";
import { EmbeddedProvider } from "../provider/embedded/embedded-provider.ts";
import { EmbeddedSessions } from "../provider/embedded/embedded-sessions.ts";
import { EmbeddedVisitors } from "../provider/embedded/embedded-visitors.ts";
import type { KeyMaker } from "../provider/embedded/keys/signing-keys.ts";
import type { ServiceAccountLogins } from "../provider/embedded/service-accounts/account-client.ts";
import type { IdentityProvider } from "../provider/identity-provider.ts";
import { openOidc } from "./open-oidc.ts";
import { declarationOf, type ProviderManagement } from "./provider-management.ts";

/** What a provider is made with. */
export interface ProviderParts {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<IamTables>;
  readonly accounts: Accounts;
  readonly serviceAccounts: ServiceAccountLogins;
  readonly design: PageDesign;
  /** The second factors of local users; used by the embedded provider only. */
  readonly factors: ProviderFactors | undefined;
  readonly logger: ProcessLogger;
  readonly recorder: AuditRecorder;
  readonly attempts: FailedAttempts;
  readonly counts: LoginAttempts;
  readonly missingKeys: MissingKeyLog;
  readonly revocations: Revocations;
  readonly clock: Pick<DatabaseClock, "problem">;
  /** Makes the signing keys of the embedded provider, for tests. */
  readonly newKey: KeyMaker | undefined;
}

/** The identity provider of the configuration, with what it needs of the server. */
export interface OpenedProvider {
  readonly client: IdentityProvider;
  /** The logins of its users; undefined where another service has them. */
  readonly sessions: UserSessions | undefined;
  /** Who is logged in at it in a browser; undefined where another service has them. */
  readonly visitors: Visitors | undefined;
  /** Its users and groups; undefined where it has none that can be read. */
  readonly directory: Directory | undefined;
  /** Whether it accepts no login without PKCE. */
  readonly requiresPkce: boolean;
  readonly rawHandlers: readonly RawHandler[];
  readonly jobs: readonly Job[];
  /** Ends what it does later than its responses. */
  readonly close?: () => Promise<void>;
  /** Why it cannot serve, for `/readyz`. */
  readonly problem: () => string | undefined;
  /** The key set of its tokens; undefined where it is fetched. */
  readonly keySet: (() => Promise<object>) | undefined;
  /** What the platform manages of it; undefined where it is managed elsewhere. */
  readonly management?: ProviderManagement;
}

const NS_PER_MS = 1_000_000;

/**
 * Opens the provider that `security.authn.provider` names.
 *
 * @throws EncryptionKeyError where the keys of the database cannot be read; StartUpError where a client has
 * the id of a user or of a service account
 */
export async function openProvider(parts: ProviderParts): Promise<OpenedProvider> {
  const { provider } = parts.configuration.config.security.authn;
  if (provider === "embedded") return openEmbedded(parts);
  const elsewhere = {
    sessions: undefined,
    visitors: undefined,
    requiresPkce: false,
    rawHandlers: [],
    problem: () => undefined,
  };
  if (provider === "casdoor") return { ...openCasdoor(parts), ...elsewhere };
  return { ...openOidc(parts), ...elsewhere, directory: undefined, keySet: undefined };
}

async function openEmbedded({
  configuration,
  database,
  accounts,
  serviceAccounts,
  design,
  factors,
  logger,
  recorder,
  attempts,
  counts,
  missingKeys,
  revocations,
  clock,
  newKey,
}: ProviderParts): Promise<OpenedProvider> {
  const { config, sections } = configuration;
  const { iam } = sections;
  const { client_id: clientId, redirect_uris: redirectUris, scopes } = iam.login;
  const callback = `${iam.public_url}${CALLBACK_PATH}`;
  const own = new OwnClient({
    name: iam.pages.name,
    clientId,
    redirectUris: [
      ...new Set([
        ...redirectUris,
        ...(iam.browser_login === "self" ? [callback] : []),
        `${iam.public_url}${OWN_ACCOUNT_PATH}`,
      ]),
    ],
    scopes,
  });
  const source = { file: iam.encryption_key_file, environment: config.environment };
  const box = new SecretBox(readEncryptionKeys(source));
  const tables = database.as<ProviderTables>();
  const clients = iam.clients.map(declarationOf);
  await refuseTakenIds(
    [
      { id: clientId, key: "iam.login.client_id" },
      ...clients.map(({ id }, index) => ({ id, key: `iam.clients[${index}].id` })),
    ],
    database,
  );
  const declared = new DeclaredClients({
    own: own.declaration(),
    clients,
    database: tables,
    box,
    recorder,
    log: logger,
  });
  const provider = new EmbeddedProvider({
    publicUrl: iam.public_url,
    organization: iam.organization,
    clients: declared,
    accounts,
    serviceAccounts,
    design,
    ...(factors === undefined ? {} : { factors }),
    database: tables,
    box,
    revocations,
    clock,
    log: logger,
    audit: recorder,
    attempts,
    counts,
    missingKeys,
    loginTimes: loginTimesOf(iam),
    ...(newKey === undefined ? {} : { newKey }),
  });
  // At the start, which it prolongs, and not at the first login.
  await provider.load();
  await declared.start();
  return {
    client: own.connect(provider, logger),
    sessions: new EmbeddedSessions(provider),
    visitors: new EmbeddedVisitors(provider, clientId),
    directory: undefined,
    requiresPkce: true,
    rawHandlers: providerHandlers(provider),
    jobs: provider.jobs(),
    close: () => provider.notices.close(),
    problem: () => provider.problem,
    keySet: () => provider.keySet(),
    management: {
      clients: () => declared.declared,
      plan: (wanted) => declared.plan(wanted),
      async apply(wanted) {
        const ids = wanted.map(({ id }, index) => ({ id, key: `clients[${index}].id` }));
        if (ids.length > 0) await refuseTakenIds(ids, database);
        const changes = await declared.apply(wanted);
        await provider.look();
        return changes;
      },
      rotateSigningKey: (options) => provider.rotateSigningKey(options),
    },
  };
}

function loginTimesOf({ sessions }: IamConfig) {
  return {
    idleMs: sessions.idle_ns / NS_PER_MS,
    absoluteMs: sessions.absolute_ns / NS_PER_MS,
  };
}
