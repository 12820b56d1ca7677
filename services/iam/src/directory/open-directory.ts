import { bindIAMDirectoryService } from "../../gen/svc/iam/v1/directory_server.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { LATER, unimplemented } from "../rpc/unimplemented.ts";
import { directoryHandlers } from "./directory-handlers.ts";

const ABSENT = "the identity provider has no directory that can be read";

/** Opens IAMDirectoryService. */
export function openDirectory({ configuration, identity }: PartContext): ServicePart {
  const { directory } = identity.provider;
  if (directory !== undefined) {
    return { bindings: [bindIAMDirectoryService(directoryHandlers(directory))] };
  }
  const isEmbedded = configuration.config.security.authn.provider === "embedded";
  return { bindings: [bindIAMDirectoryService(unimplemented(isEmbedded ? LATER : ABSENT))] };
}
