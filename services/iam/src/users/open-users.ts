import { bindIAMLocalUserService } from "../../gen/svc/iam/v1/users_server.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { unimplemented } from "../rpc/unimplemented.ts";
import { Groups } from "./groups.ts";
import { userHandlers } from "./user-handlers.ts";

const ELSEWHERE = "local users exist with the embedded identity provider only";

/** Opens IAMLocalUserService. */
export function openUsers({ configuration, engine, identity }: PartContext): ServicePart {
  const { config, sections } = configuration;
  if (config.security.authn.provider !== "embedded") {
    return { bindings: [bindIAMLocalUserService(unimplemented(ELSEWHERE))] };
  }
  const { accounts, hasher } = identity;
  const { organization } = sections.iam;
  const groups = new Groups(engine);
  const handlers = userHandlers({ accounts, hasher, groups, organization });
  return { bindings: [bindIAMLocalUserService(handlers)] };
}
