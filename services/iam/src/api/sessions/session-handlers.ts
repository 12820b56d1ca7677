import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { IAMSessionServiceHandlers } from "../../../gen/svc/iam/v1/sessions_server.ts";
import { required } from "../../ground/rpc/request-fields.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { UserSessions } from "../../people/sessions/user-sessions.ts";
import { callingUser, localUser } from "../own-organization.ts";
import type { AccountRights } from "../users/account-rights.ts";
import { isSessionOf, sessionMessage } from "./session-message.ts";

/** What the handlers need. */
export interface SessionHandlersOptions {
  readonly sessions: UserSessions;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly rights: Pick<AccountRights, "assertCovers" | "assertManages">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The handlers of IAMSessionService. */
export function sessionHandlers(options: SessionHandlersOptions): IAMSessionServiceHandlers {
  const { sessions, rights, organization } = options;
  const messages = async (accountId: string, context: CallContext) => {
    const caller = requirePrincipal(context);
    const found = await sessions.list(accountId);
    return found.map((one) => sessionMessage(one, caller, (id) => sessions.clientName(id)));
  };
  const assertCovers = (id: string, context: CallContext) =>
    rights.assertCovers(requirePrincipal(context), { type: "user", id }, context.signal);
  return {
    async listMySessions(_, context) {
      return { sessions: await messages(callingUser(context, organization), context) };
    },

    async endMySession({ sessionId }, context) {
      const id = required("session_id", sessionId);
      if (!(await sessions.end(id, callingUser(context, organization), context))) throw noSession();
      return {};
    },

    async endMyOtherSessions(_, context) {
      const accountId = callingUser(context, organization);
      const caller = requirePrincipal(context);
      const own = (await sessions.list(accountId)).find((one) => isSessionOf(one, caller));
      if (own === undefined) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          "the session of this call is not known: call with an access token of the session",
        );
      }
      return { endedCount: await sessions.endAll(accountId, context, own.id) };
    },

    async listUserSessions({ userId }, context) {
      const { id } = await localUser(userId, options, context);
      await rights.assertManages(requirePrincipal(context), context.signal);
      return { sessions: await messages(id, context) };
    },

    async endUserSession({ userId, sessionId }, context) {
      const id = required("session_id", sessionId);
      const { id: accountId } = await localUser(userId, options, context);
      await assertCovers(accountId, context);
      if (!(await sessions.end(id, accountId, context))) throw noSession();
      return {};
    },

    async endUserSessions({ userId }, context) {
      const { id: accountId } = await localUser(userId, options, context);
      await assertCovers(accountId, context);
      return { endedCount: await sessions.endAll(accountId, context) };
    },
  };
}

function noSession(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the session does not exist, or has ended");
}
