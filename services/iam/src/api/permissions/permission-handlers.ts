import type { AuthorizationEngine } from "svc-access/authz";
import type { IAMPermissionServiceHandlers } from "../../../gen/svc/iam/v1/permission_server.ts";
import { checkHandlers } from "./check-handlers.ts";
import { relationshipHandlers } from "./relationship-handlers.ts";
import type { RelationshipWatches } from "./relationship-watches.ts";
import type { ServiceRights } from "./service-rights.ts";

/** What the handlers need. */
export interface PermissionHandlersOptions {
  readonly engine: AuthorizationEngine;
  readonly rights: ServiceRights;
  readonly watches: Pick<RelationshipWatches, "watch">;
  /** The text of the platform's model. */
  readonly model: string;
}

/** The handlers of IAMPermissionService: each call within what its service may do. */
export function permissionHandlers(
  options: PermissionHandlersOptions,
): IAMPermissionServiceHandlers {
  const { rights, model } = options;
  return {
    ...checkHandlers(options),
    ...relationshipHandlers(options),
    async getModel(_, call) {
      rights.assertKnown(call);
      return { model };
    },
  };
}
