import { fileURLToPath } from "node:url";
import { openServiceDatabase } from "svc-access/database";
import {
  createAuthorizationEngine,
  createLogger,
  readRouteDocument,
  type ServerOptions,
  StartUpError,
} from "svc-access/runtime";
import { openAccount } from "./account/open-account.ts";
import { openAudit } from "./audit-api/open-audit.ts";
import { openAuth } from "./auth/open-auth.ts";
import { openAuthzen } from "./authzen/open-authzen.ts";
import { openBootstrap } from "./bootstrap/open-bootstrap.ts";
import { openBrowserLogin } from "./browser-login/open-browser-login.ts";
import type { LoadedIamConfig } from "./config/load-iam-config.ts";
import { openDirectory } from "./directory/open-directory.ts";
import { openGroups } from "./groups/open-groups.ts";
import { type Opened, openIdentity, type Shortcuts } from "./identity/open-identity.ts";
import { openOrganizations } from "./organizations/open-organizations.ts";
import { withErrorPages } from "./pages/error-pages.ts";
import { readPageDesign } from "./pages/read-page-design.ts";
import type { PartContext, ServicePart } from "./parts/service-part.ts";
import { openPasswords } from "./password/open-passwords.ts";
import { openPermissions } from "./permissions/open-permissions.ts";
import { openProviderApi } from "./provider-api/open-provider-api.ts";
import { openRelationships } from "./relationships/open-relationships.ts";
import { Removals } from "./removals/removals.ts";
import { openRights } from "./rights/open-rights.ts";
import { openSecondFactors } from "./second-factor-api/open-second-factors.ts";
import { EncryptionKeyError } from "./secrets/encryption-keys.ts";
import { openServiceAccounts } from "./service-accounts/open-service-accounts.ts";
import { openSessions } from "./session-api/open-sessions.ts";
import { clockedJobs } from "./sessions/clocked-jobs.ts";
import type { BrowserSessionTables } from "./store/browser-session-tables.ts";
import { IAM_TABLES, type IamTables } from "./store/tables.ts";
import { openUsers } from "./users/open-users.ts";

const ROUTES = fileURLToPath(new URL("../gen/routes/iam.json", import.meta.url));

/**
 * Opens what the service needs, and says how its server is made of it: the one place that knows all
 * parts. The server closes what was opened.
 *
 * @param shortcuts replaces what costs much processor time, for tests
 * @throws ConfigurationError, DatabaseError, AuthzError or StartUpError where it cannot start
 */
export async function openIam(
  configuration: LoadedIamConfig,
  shortcuts: Shortcuts = {},
): Promise<ServerOptions> {
  const { config } = configuration;
  const { service, environment, log } = config;
  const design = readPageDesign(configuration.sections.iam.pages);
  const logger = createLogger({ service, environment, level: log.level });
  const database = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  let engine: Opened["engine"] | undefined;
  try {
    engine = await createAuthorizationEngine(config);
    engine = shortcuts.engine?.(engine) ?? engine;
    const opened = { configuration, database, engine, design, logger };
    return await optionsOf(opened, shortcuts);
  } catch (error) {
    await engine?.close();
    await database.close();
    // A person must fix it, as a wrong configuration.
    if (!(error instanceof EncryptionKeyError)) throw error;
    throw new StartUpError([error.message], { cause: error });
  }
}

async function optionsOf(opened: Opened, shortcuts: Shortcuts): Promise<ServerOptions> {
  const identity = await openIdentity(opened, shortcuts);
  const removals = new Removals(opened);
  const rights = openRights(opened, identity);
  const context: PartContext = { ...opened, identity, removals, rights };
  const { provider, ended } = identity;
  const { keySet } = provider;
  const browsers = openBrowserLogin(browserLoginParts(context));
  const parts: readonly ServicePart[] = [
    { jobs: identity.jobs, rawHandlers: provider.rawHandlers },
    browsers,
    await openBootstrap(context),
    openAuth(context),
    openPasswords(context),
    openAccount(context),
    openSecondFactors(context),
    openSessions(context),
    openUsers(context),
    openServiceAccounts(context),
    openProviderApi(context),
    openDirectory(context),
    openGroups(context),
    await openOrganizations(context),
    openPermissions(context),
    openRelationships(context),
    openAuthzen(context),
    await openAudit(context),
    { bindings: [ended.binding], jobs: [removals.job], metrics: removals.metrics },
  ];
  return {
    configuration: opened.configuration,
    engine: opened.engine,
    logger: opened.logger,
    database: opened.database,
    auditRecorder: identity.recorder,
    revocations: ended.feed,
    routes: readRouteDocument(ROUTES),
    authenticators: browsers.authenticators,
    bindings: parts.flatMap(({ bindings = [] }) => bindings),
    rawHandlers: parts
      .flatMap(({ rawHandlers = [] }) => rawHandlers)
      .map((handler) => withErrorPages(handler, opened.design)),
    jobs: [
      ended.job,
      ...clockedJobs(
        parts.flatMap(({ jobs = [] }) => jobs),
        ended.clock,
      ),
    ],
    admission: parts.flatMap(({ admission = [] }) => admission),
    idempotentRpcs: parts.flatMap(({ idempotentRpcs = [] }) => idempotentRpcs),
    metrics: parts.flatMap(({ metrics = [] }) => metrics),
    readiness: {
      ...Object.assign({}, ...parts.map(({ readiness }) => readiness)),
      clock: async () => ended.clock.problem,
      keys: provider.problem,
    },
    onStopping() {
      ended.feed.close();
      for (const { onStopping } of parts) onStopping?.();
    },
    async onClose() {
      for (const { onClose } of parts) await onClose?.();
    },
    ...(keySet === undefined ? {} : { keySet }),
  };
}

function browserLoginParts({ configuration, database, logger, design, identity }: PartContext) {
  return {
    configuration,
    design,
    logger,
    database: database.as<BrowserSessionTables>(),
    callbacks: identity.callbacks,
    provider: identity.provider.client,
    verifier: identity.verifier,
    recorder: identity.recorder,
  };
}
