import { readFileSync } from "node:fs";
import { StartUpError } from "svc-access/runtime";
import { bindIAMPermissionService } from "../../../gen/svc/iam/v1/permission_server.ts";
import { unknownTypes } from "../../config/services-config.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
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
  const problems = [...unknownTypes(services, engine.model)].map(({ message }) => message);
  if (problems.length > 0) throw new StartUpError(problems);
  const watches = new RelationshipWatches(engine);
  const rights = new ServiceRights(services);
  return {
    bindings: [bindIAMPermissionService(permissionHandlers({ engine, rights, watches, model }))],
    onStopping: () => watches.close(),
  };
}
