import { bindIAMSessionService } from "../../../gen/svc/iam/v1/sessions_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { AccountRights } from "../users/account-rights.ts";
import { sessionHandlers } from "./session-handlers.ts";

const ELSEWHERE =
  "sessions are listed and ended with the embedded identity provider only; with another one, at that provider";

/** Opens IAMSessionService. */
export function openSessions({ configuration, engine, identity }: PartContext): ServicePart {
  const { organization } = configuration.sections.iam;
  const { accounts, provider } = identity;
  const { sessions } = provider;
  if (sessions === undefined)
    return { bindings: [bindIAMSessionService(unimplemented(ELSEWHERE))] };
  const rights = new AccountRights(engine, organization);
  const handlers = sessionHandlers({ sessions, accounts, rights, organization });
  return { bindings: [bindIAMSessionService(handlers)] };
}
