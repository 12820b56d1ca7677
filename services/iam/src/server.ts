import { fileURLToPath } from "node:url";
import { openServiceDatabase } from "svc-access/database";
import {
  createAuthorizationEngine,
  createLogger,
  readRouteDocument,
  type ServerOptions,
  StartUpError,
} from "svc-access/runtime";
import manifest from "../package.json" with { type: "json" };
import { openAccount } from "./account/open-account.ts";
import { openAudit } from "./api/audit/open-audit.ts";
import { openAuth } from "./api/auth/open-auth.ts";
import { openAuthzen } from "./api/authzen/open-authzen.ts";
import { openDirectory } from "./api/directory/open-directory.ts";
import { openGroups } from "./api/groups/open-groups.ts";
import { storedPageChoices } from "./api/me/page-choice.ts";
import { PreferenceStore } from "./api/me/preferences.ts";
import { CurrentPreferences } from "./api/me/user-preferences.ts";
import { openOrganizations } from "./api/organizations/open-organizations.ts";
import { refuseOtherOrganization } from "./api/organizations/refuse-other-organization.ts";
import { openPasswords } from "./api/password/open-passwords.ts";
import { openPermissions } from "./api/permissions/open-permissions.ts";
import { openProviderApi } from "./api/provider/open-provider-api.ts";
import { openPageTokens } from "./api/relationships/open-page-tokens.ts";
import { openRelationships } from "./api/relationships/open-relationships.ts";
import { openSecondFactors } from "./api/second-factors/open-second-factors.ts";
import { openServiceAccounts } from "./api/service-accounts/open-service-accounts.ts";
import type { PartContext, ServicePart } from "./api/service-part.ts";
import { openSessions } from "./api/sessions/open-sessions.ts";
import { openUsers } from "./api/users/open-users.ts";
import { openBootstrap } from "./bootstrap/open-bootstrap.ts";
import type { LoadedIamConfig } from "./config/load-iam-config.ts";
import { PROVIDER_PATH } from "./config/provider-paths.ts";
import { openIamRemovals } from "./ground/removals/removals.ts";
import { EncryptionKeyError } from "./ground/secrets/encryption-keys.ts";
import { OutsideValues } from "./ground/secrets/outside-values.ts";
import type { BrowserSessionTables } from "./ground/store/browser-session-tables.ts";
import { IAM_TABLES, type IamTables } from "./ground/store/tables.ts";
import { type Opened, openIdentity, type Shortcuts } from "./identity/open-identity.ts";
import { openBrowserLogin } from "./login/browser/open-browser-login.ts";
import { type FindVisitor, withErrorPages } from "./pages/error-pages.ts";
import { personOf } from "./pages/page-choices.ts";
import { pageHandlers } from "./pages/page-handlers.ts";
import { readPageDesign } from "./pages/read-page-design.ts";
import { clockedJobs } from "./people/sessions/database-clock.ts";
import type { Visitors } from "./people/sessions/visitors.ts";
import { openRights } from "./rights/open-rights.ts";

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
  const look = readPageDesign(configuration.sections.iam.pages);
  const logger = createLogger({ service, environment, level: log.level });
  const database = await openServiceDatabase<IamTables>(config, { ...IAM_TABLES, logger });
  let engine: Opened["engine"] | undefined;
  try {
    engine = await createAuthorizationEngine(config);
    engine = shortcuts.engine?.(engine) ?? engine;
    const { organization } = configuration.sections.iam;
    const preferences = new CurrentPreferences(new PreferenceStore(database.kysely), organization);
    const design = look.knowing(storedPageChoices(preferences, organization));
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
  const { organization } = opened.configuration.sections.iam;
  await refuseOtherOrganization(opened.database, organization);
  const identity = await openIdentity(opened, shortcuts);
  const removals = await openIamRemovals(opened);
  const rights = openRights(opened, identity);
  const box = openPageTokens(opened.configuration);
  const pageTokens = new OutsideValues(box, identity.missingKeys);
  const context: PartContext = { ...opened, identity, removals, rights, pageTokens };
  const { provider, ended } = identity;
  const { keySet } = provider;
  const browsers = openBrowserLogin(browserLoginParts(context));
  const parts: readonly ServicePart[] = [
    {
      jobs: identity.jobs,
      metrics: identity.metrics,
      rawHandlers: provider.rawHandlers,
      async onClose() {
        // Together: clients that do not answer must not take the time of the audit.
        await Promise.all([provider.close?.(), identity.attempts.close()]);
      },
    },
    browsers,
    {
      rawHandlers: pageHandlers(
        opened.design,
        provider.rawHandlers.length === 0 ? [PROVIDER_PATH] : [],
      ),
    },
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
  await identity.missingKeys.open();
  return {
    version: manifest.version,
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
      .map((handler) => withErrorPages(handler, opened.design, findVisitor(provider.visitors))),
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

/** Who a page of an error is for: by the session of the browser here, or at the provider. */
function findVisitor(visitors: Visitors | undefined): FindVisitor {
  return async (headers, call) => {
    if (call.principal !== undefined) return call.principal;
    return personOf((await visitors?.find(headers, call))?.accountId);
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
    attempts: identity.attempts,
    missingKeys: identity.missingKeys,
  };
}
