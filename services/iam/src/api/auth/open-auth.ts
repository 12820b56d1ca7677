import { bindIAMAuthService } from "../../../gen/svc/iam/v1/auth_server.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { CurrentUser } from "../me/current-user.ts";
import { LocalProfiles } from "../me/local-profiles.ts";
import { PreferenceStore } from "../me/preferences.ts";
import { ProfileStore } from "../me/profiles.ts";
import { CurrentPreferences } from "../me/user-preferences.ts";
import { ServiceRights } from "../permissions/service-rights.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { Groups } from "../users/groups.ts";
import { authHandlers } from "./auth-handlers.ts";
import { TokenCheck } from "./token-check.ts";

/** Opens IAMAuthService. */
export function openAuth({ configuration, database, engine, identity }: PartContext): ServicePart {
  const { config, sections } = configuration;
  const { accounts, provider, revocations, verifier } = identity;
  const isEmbedded = config.security.authn.provider === "embedded";
  const { kysely } = database;
  const { organization } = sections.iam;
  const handlers = authHandlers({
    provider: provider.client,
    currentUser: new CurrentUser({
      local: isEmbedded
        ? { accounts, profiles: new LocalProfiles(database.as<UserTables>(), accounts) }
        : undefined,
      profiles: new ProfileStore(kysely),
      groups: new Groups(engine),
      organization,
    }),
    preferences: new CurrentPreferences(new PreferenceStore(kysely), organization),
    tokens: new TokenCheck(verifier, (token) => revocations.isRevoked(token)),
    redirectUris: new Set(sections.iam.login.redirect_uris),
    requiresPkce: provider.requiresPkce,
    rights: new ServiceRights(sections.iam.services),
  });
  return { bindings: [bindIAMAuthService(handlers)] };
}
