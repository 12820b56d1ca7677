import { bindIAMAuthorizationService } from "../../gen/svc/iam/v1/administration_server.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { relationshipHandlers } from "./relationship-handlers.ts";

/** Opens IAMAuthorizationService. */
export function openRelationships({ engine, rights }: PartContext): ServicePart {
  const { rules, lastOwner } = rights;
  return {
    bindings: [bindIAMAuthorizationService(relationshipHandlers({ engine, rules, lastOwner }))],
  };
}
