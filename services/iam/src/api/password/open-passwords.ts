import { ServiceError } from "svc-access/runtime";
import { IAMPasswordService } from "../../../gen/svc/iam/v1/users_pb.ts";
import { bindIAMPasswordService } from "../../../gen/svc/iam/v1/users_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { readEncryptionKeys } from "../../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../../ground/secrets/secret-box.ts";
import type { PasswordTables } from "../../ground/store/password-tables.ts";
import { FormTokens } from "../../pages/form-tokens.ts";
import { PageCookie } from "../../pages/page-cookie.ts";
import { ResetLinks } from "../../people/accounts/reset-links.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { AccountRights } from "../users/account-rights.ts";
import { PasswordChanges } from "./password-changes.ts";
import { passwordHandlers } from "./password-handlers.ts";
import { resetHandler } from "./reset-handler.ts";
import { RESET_PATH } from "./reset-pages.ts";
import { ResetRights } from "./reset-rights.ts";

const NS_PER_SECOND = 1_000_000_000;
const ELSEWHERE =
  "passwords are changed and reset with the embedded identity provider only; with another one, at that provider";

/**
 * Opens what sets the passwords of local users.
 *
 * @returns undefined with another provider, which has the passwords
 */
export function openPasswordChanges({ configuration, database, engine, identity }: PartContext) {
  const { accounts, logins, hasher, provider } = identity;
  const { sessions } = provider;
  if (sessions === undefined) return undefined;
  const { organization } = configuration.sections.iam;
  const links = new ResetLinks(database.as<PasswordTables>());
  const rights = new ResetRights({ accounts, rights: new AccountRights(engine, organization) });
  const changes = new PasswordChanges({ accounts, logins, hasher, sessions, links, rights });
  return { changes, links, rights, sessions };
}

/**
 * Opens change and reset of the passwords of local users.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openPasswords(context: PartContext): ServicePart {
  const { configuration, design, identity } = context;
  const { accounts, attempts, logins } = identity;
  const opened = openPasswordChanges(context);
  if (opened === undefined) return OF_ANOTHER_PROVIDER;
  const { changes, links, rights, sessions } = opened;
  const { config, sections } = configuration;
  const {
    organization,
    public_url: publicUrl,
    encryption_key_file: file,
    sessions: times,
  } = sections.iam;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const handlers = passwordHandlers({
    accounts,
    changes,
    links,
    sessions,
    rights,
    organization,
    publicUrl,
  });
  const page = resetHandler({
    origin: publicUrl,
    accounts,
    links,
    changes,
    rights,
    logins,
    attempts,
    forms: new FormTokens(new OutsideValues(box, identity.missingKeys)),
    cookie: new PageCookie({
      name: "iam_password_reset",
      path: RESET_PATH,
      publicUrl,
      browserSeconds: times.absolute_ns / NS_PER_SECOND,
    }),
    design,
  });
  return {
    bindings: [bindIAMPasswordService(handlers)],
    rawHandlers: [page],
    // Its link is a secret, and not stored: a repeated call gets an error that says so.
    idempotentRpcs: [`${IAMPasswordService.typeName}/CreatePasswordResetLink`],
    jobs: [{ name: "password_reset_links", every: "10m", run: () => links.removeExpired() }],
  };
}

const OF_ANOTHER_PROVIDER: ServicePart = {
  bindings: [bindIAMPasswordService(unimplemented(ELSEWHERE))],
  rawHandlers: [
    {
      path: RESET_PATH,
      handle: () => {
        throw new ServiceError("RESOURCE_NOT_FOUND", ELSEWHERE);
      },
    },
  ],
};
