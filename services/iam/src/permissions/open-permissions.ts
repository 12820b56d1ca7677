import { readFileSync } from "node:fs";
import type { AuthorizationEngine } from "svc-access/authz";
import { StartUpError } from "svc-access/runtime";
import { bindIAMPermissionService } from "../../gen/svc/iam/v1/permission_server.ts";
import { ALL_TYPES, type ServicesConfig } from "../config/services-config.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { permissionHandlers } from "./permission-handlers.ts";
import { RelationshipWatches } from "./relationship-watches.ts";
import { ServiceRights } from "./service-rights.ts";

/**
 * Opens IAMPermissionService, on the engine of this service.
 *
 * @throws StartUpError if a service lists a type that the model does not have
 */
export function openPermissions({ configuration, engine }: PartContext): ServicePart {
  const { config, sections } = configuration;
  const { services } = sections.iam;
  // The engine has read it.
  const model = readFileSync(config.security.authz.model as string, "utf8");
  const problems = [...unknownTypes(services, engine)];
  if (problems.length > 0) throw new StartUpError(problems);
  const watches = new RelationshipWatches(engine);
  const rights = new ServiceRights(services);
  return {
    bindings: [bindIAMPermissionService(permissionHandlers({ engine, rights, watches, model }))],
    onStopping: () => watches.close(),
  };
}

function* unknownTypes(services: ServicesConfig, { model }: AuthorizationEngine): Iterable<string> {
  for (const [name, service] of Object.entries(services)) {
    for (const list of ["read_types", "write_types"] as const) {
      for (const type of service[list]) {
        if (type === ALL_TYPES || model.definitions.has(type)) continue;
        yield `iam.services.${name}.${list}: the model has no type ${type}`;
      }
    }
  }
}
