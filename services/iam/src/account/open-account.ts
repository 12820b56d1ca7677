import { ServiceError } from "svc-access/runtime";
import { PreferenceStore } from "../me/preferences.ts";
import { CurrentPreferences } from "../me/user-preferences.ts";
import { FormTokens } from "../pages/form-tokens.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { openPasswordChanges } from "../password/open-passwords.ts";
import { OWN_ACCOUNT_PATH } from "../provider/embedded/embedded-options.ts";
import { readEncryptionKeys } from "../secrets/read-encryption-keys.ts";
import { SecretBox } from "../secrets/secret-box.ts";
import { accountHandler } from "./account-handler.ts";
import { FactorsSection } from "./factors-section.ts";
import { PasswordSection } from "./password-section.ts";
import { ProfileSection } from "./profile-section.ts";
import { SessionsSection } from "./sessions-section.ts";

/**
 * Opens the pages on which people see and change their own account.
 *
 * @throws EncryptionKeyError if the encryption keys cannot be read
 */
export function openAccount(context: PartContext): ServicePart {
  const { configuration, database, design, identity } = context;
  const { accounts, factors, provider } = identity;
  const { sessions, visitors } = provider;
  const passwords = openPasswordChanges(context);
  if (sessions === undefined || visitors === undefined || passwords === undefined) {
    return OF_ANOTHER_PROVIDER;
  }
  const { config, sections } = configuration;
  const { public_url: origin, encryption_key_file: file } = sections.iam;
  const box = new SecretBox(readEncryptionKeys({ file, environment: config.environment }));
  const preferences = new CurrentPreferences(new PreferenceStore(database.kysely));
  const forms = new FormTokens(box);
  const handler = accountHandler({
    origin,
    visitors,
    accounts,
    preferences,
    forms,
    design,
    sections: [
      new ProfileSection({ accounts, preferences }),
      new PasswordSection({ changes: passwords.changes, sessions }),
      ...(factors === undefined ? [] : [new FactorsSection({ factors, forms })]),
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
