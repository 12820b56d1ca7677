import { ServiceError } from "svc-access/runtime";
import { PreferenceStore } from "../api/me/preferences.ts";
import { CurrentPreferences } from "../api/me/user-preferences.ts";
import { openPasswordChanges } from "../api/password/open-passwords.ts";
import type { PartContext, ServicePart } from "../api/service-part.ts";
import { OWN_ACCOUNT_PATH } from "../config/provider-paths.ts";
import { OutsideValues } from "../ground/secrets/outside-values.ts";
import { readEncryptionKeys } from "../ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../ground/secrets/secret-box.ts";
import { FormTokens } from "../pages/form-tokens.ts";
import { Quota } from "../people/accounts/throttle/quota.ts";
import { accountHandler } from "./account-handler.ts";
import { FactorsSection } from "./factors-section.ts";
import { PasswordSection } from "./password-section.ts";
import { ProfileSection } from "./profile-section.ts";
import { SessionsSection } from "./sessions-section.ts";

/** More than somebody needs who adds and removes all factors that an account can have. */
const FACTOR_CHANGES = { purpose: "changes of second factors", most: 50, spanMs: 900_000 };

/**
 * Opens the pages on which people see and change their own account.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openAccount(context: PartContext): ServicePart {
  const { configuration, database, design, identity } = context;
  const { accounts, attempts, factors, logins, provider } = identity;
  const { sessions, visitors } = provider;
  const passwords = openPasswordChanges(context);
  if (sessions === undefined || visitors === undefined || passwords === undefined) {
    return OF_ANOTHER_PROVIDER;
  }
  const { config, sections } = configuration;
  const { public_url: origin, encryption_key_file: file } = sections.iam;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const preferences = new CurrentPreferences(
    new PreferenceStore(database.kysely),
    configuration.sections.iam.organization,
  );
  const forms = new FormTokens(new OutsideValues(box, identity.missingKeys));
  const quota = new Quota(database.kysely, FACTOR_CHANGES);
  const handler = accountHandler({
    origin,
    visitors,
    accounts,
    hasFactor: async (id) => (await factors?.store.has(id)) === true,
    preferences,
    forms,
    design,
    sections: [
      new ProfileSection({ accounts, preferences }),
      new PasswordSection({ accounts, changes: passwords.changes, logins, sessions }),
      ...(factors === undefined ? [] : [new FactorsSection({ factors, forms, attempts, quota })]),
      new SessionsSection(sessions),
    ],
  });
  return { rawHandlers: [handler] };
}

const OF_ANOTHER_PROVIDER: ServicePart = {
  rawHandlers: [
    {
      path: OWN_ACCOUNT_PATH,
      handle: () => {
        throw new ServiceError(
          "RESOURCE_NOT_FOUND",
          "accounts are at another identity provider: change them there",
        );
      },
    },
  ],
};
