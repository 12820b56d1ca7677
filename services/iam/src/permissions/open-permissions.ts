import { bindIAMAuthorizationService } from "../../gen/svc/iam/v1/administration_server.ts";
import { bindIAMPermissionService } from "../../gen/svc/iam/v1/permission_server.ts";
import type { ServicePart } from "../parts/service-part.ts";
import { LATER, unimplemented } from "../rpc/unimplemented.ts";

/** What the specification has and this version has not. */
export function openPermissions(): ServicePart {
  return {
    bindings: [
      bindIAMPermissionService(unimplemented(LATER)),
      bindIAMAuthorizationService(unimplemented(LATER)),
    ],
  };
}
