import { bindIAMProviderService } from "../../../gen/svc/iam/v1/provider_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { providerHandlers } from "./provider-handlers.ts";

const ELSEWHERE =
  "clients and keys are those of the embedded identity provider; with another one, manage them there";

/** Opens IAMProviderService. */
export function openProviderApi({ configuration, identity }: PartContext): ServicePart {
  const { management } = identity.provider;
  if (management === undefined) {
    return { bindings: [bindIAMProviderService(unimplemented(ELSEWHERE))] };
  }
  const ownId = configuration.sections.iam.login.client_id;
  return { bindings: [bindIAMProviderService(providerHandlers(management, ownId))] };
}
