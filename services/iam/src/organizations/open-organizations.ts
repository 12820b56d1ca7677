import { bindIAMOrganizationService } from "../../gen/svc/iam/v1/organizations_server.ts";
import type { ServicePart } from "../parts/service-part.ts";
import { LATER, unimplemented } from "../rpc/unimplemented.ts";

/** Opens IAMOrganizationService. */
export function openOrganizations(): ServicePart {
  return { bindings: [bindIAMOrganizationService(unimplemented(LATER))] };
}
