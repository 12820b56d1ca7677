import type { AuthorizationEngine } from "svc-access/authz";
import type { ServiceDatabase } from "svc-access/database";
import { type Job, type ProcessLogger, type RawHandler, ServiceError } from "svc-access/runtime";
import type { IAMPasswordServiceHandlers } from "../../gen/svc/iam/v1/users_server.ts";
import type { LocalAccounts } from "../accounts/local-accounts.ts";
import type { PasswordLogin } from "../accounts/password-login.ts";
import type { PasswordHasher } from "../accounts/passwords/password-hasher.ts";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { FormTokens } from "../pages/form-tokens.ts";
import { unimplemented } from "../rpc/unimplemented.ts";
import { readEncryptionKeys } from "../secrets/read-encryption-keys.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import type { UserSessions } from "../sessions/user-sessions.ts";
import type { PasswordTables } from "../store/password-tables.ts";
import type { IamTables } from "../store/tables.ts";
import { AccountRights } from "../users/account-rights.ts";
import { PasswordChanges } from "./password-changes.ts";
import { passwordHandlers } from "./password-handlers.ts";
import { resetHandler } from "./reset-handler.ts";
import { ResetLinks } from "./reset-links.ts";
import { RESET_PATH } from "./reset-path.ts";
import { ResetRights } from "./reset-rights.ts";

/** What passwords need of the service. */
export interface PasswordParts {
  readonly configuration: LoadedIamConfig;
  readonly database: ServiceDatabase<IamTables>;
  readonly engine: AuthorizationEngine;
  readonly accounts: LocalAccounts;
  readonly logins: PasswordLogin;
  readonly hasher: PasswordHasher;
  /** Undefined where another provider has the users. */
  readonly sessions: UserSessions | undefined;
  readonly logger: ProcessLogger;
}

/** Change and reset of passwords, as parts of a server. */
export interface OpenedPasswords {
  readonly handlers: IAMPasswordServiceHandlers;
  readonly rawHandler: RawHandler;
  readonly jobs: readonly Job[];
}

const ELSEWHERE =
  "passwords are changed and reset with the embedded identity provider only; with another one, at that provider";

/**
 * Opens change and reset of the passwords of local users.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openPasswords(parts: PasswordParts): OpenedPasswords {
  const { configuration, database, engine, accounts, logins, hasher, sessions, logger } = parts;
  if (sessions === undefined) return OF_ANOTHER_PROVIDER;
  const { config, sections } = configuration;
  const { organization, public_url: publicUrl, encryption_key_file: file } = sections.iam;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const links = new ResetLinks(database.as<PasswordTables>());
  const rights = new ResetRights({
    accounts,
    engine,
    rights: new AccountRights(engine, organization),
    organization,
  });
  const changes = new PasswordChanges({ accounts, logins, hasher, sessions, links, rights });
  return {
    handlers: passwordHandlers({
      accounts,
      changes,
      links,
      sessions,
      rights,
      organization,
      publicUrl,
    }),
    rawHandler: resetHandler({
      origin: publicUrl,
      accounts,
      links,
      changes,
      rights,
      forms: new FormTokens(box),
      logger,
    }),
    jobs: [{ name: "password_reset_links", every: "10m", run: () => links.removeExpired() }],
  };
}

const OF_ANOTHER_PROVIDER: OpenedPasswords = {
  handlers: unimplemented(ELSEWHERE),
  rawHandler: {
    path: RESET_PATH,
    handle: () => {
      throw new ServiceError("RESOURCE_NOT_FOUND", ELSEWHERE);
    },
  },
  jobs: [],
};
