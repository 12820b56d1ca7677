import type { RelationshipFilter } from "../../model/relationship.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { createAuthorizationEngine } from "./open-engine.ts";

/**
 * Whether a relationship that matches is stored, for commands beside a service that runs: the embedded
 * engine itself cannot be opened by a second process. In the service, ask its engine.
 *
 * @param config - the configuration of the service
 * @param filter - which relationships are meant; it may not be empty
 * @throws StartUpError if the configuration has no engine; DatabaseError or AuthzError if the
 * relationships cannot be read; TypeError for an empty filter
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * const owners = { resourceType: "item", resourceId: "first", relation: "owner" };
 * if (!(await hasRelationship(config, owners))) console.log("the first item has no owner");
 * ```
 */
export async function hasRelationship(
  config: ServiceConfig,
  filter: RelationshipFilter,
): Promise<boolean> {
  if (Object.values(filter).every((part) => part === undefined)) {
    throw new TypeError("the filter is empty: name at least the type of the resource");
  }
  switch (config.security.authz.provider) {
    case "embedded": {
      if (config.database === undefined) {
        throw new StartUpError(["database is missing: the relationships are stored there"]);
      }
      // Loaded on demand: a service itself does not need it.
      const { hasStoredRelationship } = await import("../../authz/store/stored-relationships.ts");
      return hasStoredRelationship(config.database, filter);
    }
    case "spicedb":
    case "iam": {
      const engine = await createAuthorizationEngine(config);
      try {
        const { items } = await engine.readRelationships(filter, { pageSize: 1 });
        return items.length > 0;
      } finally {
        await engine.close();
      }
    }
  }
}
