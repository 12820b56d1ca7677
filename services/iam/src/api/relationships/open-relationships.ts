import { bindIAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_server.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { authorizationHandlers } from "./relationship-handlers.ts";

/** Opens IAMAuthorizationService. */
export function openRelationships({ engine, pageTokens, rights }: PartContext): ServicePart {
  const { rules, lastOwner } = rights;
  const handlers = authorizationHandlers({ engine, pageTokens, rules, lastOwner });
  return { bindings: [bindIAMAuthorizationService(handlers)] };
}
