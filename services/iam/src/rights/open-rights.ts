import type { OwnerClaimTables } from "../ground/store/owner-claim-tables.ts";
import type { Opened, OpenedIdentity } from "../identity/open-identity.ts";
import { LastOwner } from "./last-owner.ts";
import { OwnerClaims } from "./owner-claims.ts";
import type { EnabledUsers } from "./owner-paths.ts";
import { RelationshipRules } from "./relationship-rules.ts";

/** What decides about relationships, for every part that changes them. */
export interface OpenedRights {
  readonly rules: RelationshipRules;
  readonly lastOwner: LastOwner;
}

/** Opens the rules of relationships. */
export function openRights(
  { configuration, database, engine, logger }: Opened,
  { accounts }: Pick<OpenedIdentity, "accounts">,
): OpenedRights {
  const isEmbedded = configuration.config.security.authn.provider === "embedded";
  const local: EnabledUsers = async (ids) => {
    if (ids.length === 0) return new Set();
    const found = [...(await accounts.findAll(ids)).values()];
    return new Set(found.filter(({ disabled }) => !disabled).map(({ id }) => id));
  };
  return {
    rules: new RelationshipRules(engine),
    lastOwner: new LastOwner({
      engine,
      claims: new OwnerClaims(database.as<OwnerClaimTables>(), logger),
      // Another provider does not say who is disabled.
      enabled: isEmbedded ? local : async (ids) => new Set(ids),
    }),
  };
}
