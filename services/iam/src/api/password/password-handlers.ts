import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { ChangeMyPasswordRequest } from "../../../gen/svc/iam/v1/users_pb.ts";
import type { IAMPasswordServiceHandlers } from "../../../gen/svc/iam/v1/users_server.ts";
import { QueueFullError } from "../../ground/queue/work-queue.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import { LONGEST_PASSWORD_BYTES } from "../../people/accounts/password-login.ts";
import { passwordProblem } from "../../people/accounts/passwords/password-rules.ts";
import type { ResetLinks } from "../../people/accounts/reset-links.ts";
import { retrySeconds } from "../../people/accounts/throttle/retry-seconds.ts";
import type { UserSessions } from "../../people/sessions/user-sessions.ts";
import { callingUser, localUser } from "../own-organization.ts";
import { isSessionOf } from "../sessions/session-message.ts";
import type { ChangeResult, PasswordChanges } from "./password-changes.ts";
import { recordChange } from "./record-change.ts";
import { RESET_PATH } from "./reset-pages.ts";
import type { ResetRights } from "./reset-rights.ts";

/** What the handlers need. */
export interface PasswordHandlersOptions {
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly changes: Pick<PasswordChanges, "change">;
  readonly links: Pick<ResetLinks, "make">;
  readonly sessions: Pick<UserSessions, "list">;
  readonly rights: Pick<ResetRights, "assertMayReset">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
  /** `iam.public_url`. */
  readonly publicUrl: string;
}

/** The handlers of IAMPasswordService. */
export function passwordHandlers(options: PasswordHandlersOptions): IAMPasswordServiceHandlers {
  const { accounts, changes, links, sessions, rights, organization, publicUrl } = options;
  return {
    async changeMyPassword(request, context) {
      const accountId = callingUser(context, organization);
      const account = await accounts.find(accountId);
      if (account === undefined) {
        throw new ServiceError("FAILED_PRECONDITION", "the caller has no password here");
      }
      await assertValid(request, account);
      const { currentPassword: current, newPassword: next } = request;
      const caller = requirePrincipal(context);
      const session = (await sessions.list(accountId)).find((one) => isSessionOf(one, caller));
      const change = { username: account.username, current, next, session };
      const result = await changes.change(accountId, change, context).catch(asUnavailable);
      return { endedSessionCount: await endedSessions(result, accountId, context) };
    },

    async createPasswordResetLink({ userId }, context) {
      const account = await localUser(userId, { accounts, organization }, context);
      const maker = requirePrincipal(context);
      await rights.assertMayReset(maker, account.id, context.signal);
      if (account.disabled) throw new ServiceError("FAILED_PRECONDITION", "the user is disabled");
      const { token, expireTime } = await links.make(account.id, maker);
      await context.audit.record({
        event: "password.reset_link_made",
        riskLevel: "CRITICAL",
        resource: `user:${account.id}`,
        details: { expires: new Date(expireTime).toISOString() },
      });
      return {
        url: `${publicUrl}${RESET_PATH}?token=${token}`,
        expireTime: timestampFromMs(expireTime),
      };
    },
  };
}

async function assertValid(
  { currentPassword, newPassword }: ChangeMyPasswordRequest,
  account: LocalAccount,
): Promise<void> {
  const problems = {
    current_password: currentPassword === "" ? "is required" : undefined,
    new_password:
      (await passwordProblem(newPassword, account)) ??
      (isSame(newPassword, currentPassword) ? "must not be the current one" : undefined),
  };
  const found = Object.entries(problems).filter((entry) => entry[1] !== undefined);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
}

/** Whether two passwords have the same hash. */
function isSame(next: string, current: string): boolean {
  // The time that normalization takes grows with the square of the length.
  const isTooLong = Buffer.byteLength(current) > LONGEST_PASSWORD_BYTES;
  return !isTooLong && next.normalize("NFC") === current.normalize("NFC");
}

/** @throws ServiceError where the password was not changed */
async function endedSessions(
  result: ChangeResult,
  accountId: string,
  { audit }: CallContext,
): Promise<number> {
  await recordChange(result, accountId, audit);
  switch (result.outcome) {
    case "changed":
      return result.endedSessions;
    case "wrong":
      throw invalid({ current_password: "is wrong" });
    case "slowed":
      throw new ServiceError("RATE_LIMITED", "there were too many failed attempts", {
        retryAfterSeconds: retrySeconds(result),
      });
    case "busy":
      throw tooMany();
    case "outdated":
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the password was changed at the same time: log in again",
      );
  }
}

function invalid(fields: Readonly<Record<string, string | undefined>>): ServiceError {
  const message = Object.entries(fields).map(([field, problem]) => `${field} ${problem}`);
  return new ServiceError("INVALID_ARGUMENT", message.join("; "), { details: { fields } });
}

function asUnavailable(error: unknown): never {
  throw error instanceof QueueFullError ? tooMany(error) : error;
}

function tooMany(cause?: unknown): ServiceError {
  return new ServiceError("UNAVAILABLE", "too many passwords are being hashed", {
    ...(cause === undefined ? {} : { cause }),
    retryAfterSeconds: 1,
  });
}
