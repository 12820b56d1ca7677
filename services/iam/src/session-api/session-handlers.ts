import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { IAMSessionServiceHandlers } from "../../gen/svc/iam/v1/sessions_server.ts";
import type { LocalAccounts } from "../accounts/local-accounts.ts";
import { required } from "../auth/check-requests.ts";
import type { UserSessions } from "../sessions/user-sessions.ts";
import type { AccountRights } from "../users/account-rights.ts";
import { assertOwnOrganization } from "../users/own-organization.ts";
import { isSessionOf, sessionMessage } from "./session-message.ts";

/** What the handlers need. */
export interface SessionHandlersOptions {
  readonly sessions: UserSessions;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly rights: Pick<AccountRights, "assertCovers">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The handlers of IAMSessionService. */
export function sessionHandlers(options: SessionHandlersOptions): IAMSessionServiceHandlers {
  const { sessions, rights, organization } = options;
  /** The id of the caller, who must be a person of the organization: nobody else logs in here. */
  const callingUser = (context: CallContext): string => {
    const { subjectType, subjectId } = requirePrincipal(context);
    if (subjectType !== "user") throw new ServiceError("FORBIDDEN", "only users have sessions");
    // Another issuer may have a user of the same id.
    assertOwnOrganization(context, organization);
    return subjectId;
  };
  const messages = async (accountId: string, context: CallContext) => {
    const caller = requirePrincipal(context);
    const found = await sessions.list(accountId);
    return found.map((one) => sessionMessage(one, caller, (id) => sessions.clientName(id)));
  };
  return {
    async listMySessions(_, context) {
      return { sessions: await messages(callingUser(context), context) };
    },

    async endMySession({ sessionId }, context) {
      const id = required("session_id", sessionId);
      if (!(await sessions.end(id, callingUser(context), context))) throw noSession();
      return {};
    },

    async endMyOtherSessions(_, context) {
      const accountId = callingUser(context);
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
      return { sessions: await messages(await localUser(userId, options, context), context) };
    },

    async endUserSession({ userId, sessionId }, context) {
      const id = required("session_id", sessionId);
      const accountId = await localUser(userId, options, context);
      await rights.assertCovers(requirePrincipal(context), accountId, context.signal);
      if (!(await sessions.end(id, accountId, context))) throw noSession();
      return {};
    },

    async endUserSessions({ userId }, context) {
      const accountId = await localUser(userId, options, context);
      await rights.assertCovers(requirePrincipal(context), accountId, context.signal);
      return { endedCount: await sessions.endAll(accountId, context) };
    },
  };
}

/** The id of a local user whom a caller asks about; the audit names it. */
async function localUser(
  userId: string,
  { accounts, organization }: SessionHandlersOptions,
  context: CallContext,
): Promise<string> {
  assertOwnOrganization(context, organization);
  const account = await accounts.find(required("user_id", userId));
  if (account === undefined) {
    throw new ServiceError("RESOURCE_NOT_FOUND", "the user does not exist");
  }
  context.audit.setResource(`user:${account.id}`);
  return account.id;
}

function noSession(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the session does not exist, or has ended");
}
