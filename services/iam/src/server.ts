import { fileURLToPath } from "node:url";
import { openServiceDatabase, type ServiceDatabase } from "svc-access/database";
import {
  createAuthorizationEngine,
  createLogger,
  createTokenVerifier,
  openAuditRecorder,
  type ProcessLogger,
  readRouteDocument,
  type ServerOptions,
  type ServiceBinding,
  StartUpError,
} from "svc-access/runtime";
import { bindIAMAuthorizationService } from "../gen/svc/iam/v1/administration_server.ts";
import { bindIAMAuthService } from "../gen/svc/iam/v1/auth_server.ts";
import { bindIAMDirectoryService } from "../gen/svc/iam/v1/directory_server.ts";
import { bindIAMPermissionService } from "../gen/svc/iam/v1/permission_server.ts";
import { bindIAMRevocationService } from "../gen/svc/iam/v1/revocation_server.ts";
import { bindIAMSessionService } from "../gen/svc/iam/v1/sessions_server.ts";
import { bindIAMLocalUserService, bindIAMPasswordService } from "../gen/svc/iam/v1/users_server.ts";
import { type AccountTable, LocalAccounts } from "./accounts/local-accounts.ts";
import { PasswordLogin } from "./accounts/password-login.ts";
import { PasswordHasher } from "./accounts/passwords/password-hasher.ts";
import { LoginThrottle } from "./accounts/throttle/login-throttle.ts";
import { authHandlers } from "./auth/auth-handlers.ts";
import { TokenCheck } from "./auth/token-check.ts";
import { openBootstrap } from "./bootstrap/open-bootstrap.ts";
import { LoginCallbacks } from "./browser-login/login-callbacks.ts";
import { openBrowserLogin } from "./browser-login/open-browser-login.ts";
import type { LoadedIamConfig } from "./config/load-iam-config.ts";
import { directoryHandlers } from "./directory/directory-handlers.ts";
import { CurrentUser } from "./me/current-user.ts";
import { LocalProfiles } from "./me/local-profiles.ts";
import { PreferenceStore } from "./me/preferences.ts";
import { ProfileStore } from "./me/profiles.ts";
import { CurrentPreferences } from "./me/user-preferences.ts";
import { openProvider } from "./open-provider.ts";
import { openPasswords } from "./password/open-passwords.ts";
import type { KeyMaker } from "./provider/embedded/keys/signing-keys.ts";
import { unimplemented } from "./rpc/unimplemented.ts";
import { EncryptionKeyError } from "./secrets/encryption-keys.ts";
import { sessionHandlers } from "./session-api/session-handlers.ts";
import { clockedJobs } from "./sessions/clocked-jobs.ts";
import { openRevocationFeed } from "./sessions/open-revocation-feed.ts";
import { Revocations } from "./sessions/revocations.ts";
import type { BrowserSessionTables } from "./store/browser-session-tables.ts";
import type { LoginCallbackTables } from "./store/login-callback-tables.ts";
import { ProviderDatabase } from "./store/provider-database.ts";
import type { ProviderTables } from "./store/provider-tables.ts";
import { IAM_TABLES, type IamTables } from "./store/tables.ts";
import type { UserTables } from "./store/user-tables.ts";
import { AccountRights } from "./users/account-rights.ts";
import { Groups } from "./users/groups.ts";
import { userHandlers } from "./users/user-handlers.ts";

type Engine = Awaited<ReturnType<typeof createAuthorizationEngine>>;

/** What is open while the service runs. */
interface Opened {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<IamTables>;
  readonly engine: Engine;
  readonly logger: ProcessLogger;
  readonly newKey: KeyMaker | undefined;
}

const ROUTES = fileURLToPath(new URL("../gen/routes/iam.json", import.meta.url));

/**
 * Opens what the service needs, and says how its server is made of it: the one place that knows all
 * parts. The server closes what was opened.
 *
 * @param options.newKey makes the signing keys of the embedded provider, for tests
 * @throws ConfigurationError, DatabaseError, AuthzError or StartUpError where it cannot start
 */
export async function openIam(
  configuration: LoadedIamConfig,
  options: { readonly newKey?: KeyMaker } = {},
): Promise<ServerOptions> {
  const { config } = configuration;
  const { service, environment, log } = config;
  const logger = createLogger({ service, environment, level: log.level });
  const database = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  let engine: Engine | undefined;
  try {
    engine = await createAuthorizationEngine(config);
    const { newKey } = options;
    return await optionsOf({ configuration, database, engine, logger, newKey });
  } catch (error) {
    await engine?.close();
    await database.close();
    // A person must fix it, as a wrong configuration.
    if (!(error instanceof EncryptionKeyError)) throw error;
    throw new StartUpError([error.message], { cause: error });
  }
}

async function optionsOf(opened: Opened): Promise<ServerOptions> {
  const { configuration, database, engine, logger } = opened;
  const { config, sections } = configuration;
  const { kysely } = database;
  const isEmbedded = config.security.authn.provider === "embedded";
  const accounts = new LocalAccounts(kysely, sections.iam.organization);
  const hasher = new PasswordHasher();
  const throttle = new LoginThrottle(kysely);
  const logins = new PasswordLogin({ accounts, hasher, throttle });
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
    logger,
    recorder,
    revocations,
    clock: ended.clock,
    newKey: opened.newKey,
  });
  const { keySet } = provider;
  const verifier = createTokenVerifier(config, {
    revocations: ended.feed,
    logger,
    ...(keySet === undefined ? {} : { keySet }),
  });
  const callbacks = new LoginCallbacks(database.as<LoginCallbackTables>());
  const browsers = openBrowserLogin({
    configuration,
    database: database.as<BrowserSessionTables>(),
    callbacks,
    provider: provider.client,
    verifier,
    recorder,
    logger,
  });
  const bootstrap = await openBootstrap({
    configuration,
    database,
    engine,
    logger,
    recorder,
    accounts,
    hasher,
    provider: provider.client,
    verifier,
    callbacks,
  });
  const passwords = openPasswords({
    configuration,
    database,
    engine,
    accounts,
    logins,
    hasher,
    sessions: provider.sessions,
    logger,
  });
  const groups = new Groups(engine);
  const auth = bindIAMAuthService(
    authHandlers({
      provider: provider.client,
      currentUser: new CurrentUser({
        local: isEmbedded
          ? { accounts, profiles: new LocalProfiles(database.as<UserTables>(), accounts) }
          : undefined,
        profiles: new ProfileStore(kysely),
        groups,
      }),
      preferences: new CurrentPreferences(new PreferenceStore(kysely)),
      tokens: new TokenCheck(verifier, (token) => revocations.isRevoked(token)),
      redirectUris: new Set(sections.iam.login.redirect_uris),
      requiresPkce: provider.requiresPkce,
    }),
  );
  const { organization } = sections.iam;
  const sessions =
    provider.sessions === undefined
      ? unimplemented<ReturnType<typeof sessionHandlers>>(
          "sessions are listed and ended with the embedded identity provider only; with another one, at that provider",
        )
      : sessionHandlers({
          sessions: provider.sessions,
          accounts,
          rights: new AccountRights(engine, organization),
          organization,
        });
  const users = isEmbedded
    ? userHandlers({ accounts, hasher, groups, organization })
    : unimplemented<ReturnType<typeof userHandlers>>(
        "local users exist with the embedded identity provider only",
      );
  const directory =
    provider.directory === undefined
      ? unimplemented<ReturnType<typeof directoryHandlers>>(
          isEmbedded ? LATER : "the identity provider has no directory that can be read",
        )
      : directoryHandlers(provider.directory);
  const cleanUp = {
    name: "throttle_clean_up",
    every: "10m",
    run: (signal: AbortSignal) => throttle.removeForgotten(signal),
  } as const;
  return {
    configuration,
    engine,
    logger,
    database,
    auditRecorder: recorder,
    revocations: ended.feed,
    bindings: [
      auth,
      bindIAMLocalUserService(users),
      bindIAMRevocationService(ended.handlers),
      bindIAMSessionService(sessions),
      bindIAMPasswordService(passwords.handlers),
      bindIAMDirectoryService(directory),
      ...laterServices(),
    ],
    routes: readRouteDocument(ROUTES),
    authenticators: browsers.authenticators,
    rawHandlers: [
      ...provider.rawHandlers,
      ...browsers.rawHandlers,
      bootstrap.rawHandler,
      passwords.rawHandler,
    ],
    jobs: [
      ended.job,
      ...clockedJobs(
        [
          ...provider.jobs,
          ...browsers.jobs,
          ...passwords.jobs,
          callbacks.job(),
          bootstrap.job,
          cleanUp,
        ],
        ended.clock,
      ),
    ],
    readiness: {
      bootstrap: bootstrap.readiness,
      clock: async () => ended.clock.problem,
      keys: provider.problem,
    },
    onStopping: () => ended.feed.close(),
    ...(keySet === undefined ? {} : { keySet }),
  };
}

const LATER = "this version of svc-iam does not implement it yet";

/** What the specification has and this version has not. */
function laterServices(): ServiceBinding[] {
  return [
    bindIAMPermissionService(unimplemented(LATER)),
    bindIAMAuthorizationService(unimplemented(LATER)),
  ] as ServiceBinding[];
}
