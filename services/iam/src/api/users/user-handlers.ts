import { type CallContext, creationId, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { CreateUserRequest } from "../../../gen/svc/iam/v1/users_pb.ts";
import type { IAMLocalUserServiceHandlers } from "../../../gen/svc/iam/v1/users_server.ts";
import { QueueFullError } from "../../ground/queue/work-queue.ts";
import { PageTokens, pageSizeOf } from "../../ground/rpc/paging.ts";
import { refuseInvalidFields } from "../../ground/rpc/request-fields.ts";
import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";
import {
  displayNameProblem,
  emailProblem,
  usernameKey,
} from "../../people/accounts/account-texts.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { PasswordHasher } from "../../people/accounts/passwords/password-hasher.ts";
import { passwordProblem } from "../../people/accounts/passwords/password-rules.ts";
import type { UserPages } from "../../people/accounts/user-pages.ts";
import { usernameProblem } from "../../people/accounts/username-problem.ts";
import { assertOwnOrganization } from "../own-organization.ts";
import type { AccountRights } from "./account-rights.ts";
import type { ShownGroups } from "./shown-groups.ts";
import { LIST_USERS, userOf } from "./user-message.ts";

/** What the handlers need. */
export interface UserHandlersOptions {
  readonly accounts: Pick<LocalAccounts, "create" | "find">;
  readonly pages: UserPages;
  readonly hasher: PasswordHasher;
  readonly groups: ShownGroups;
  readonly rights: Pick<AccountRights, "assertManages">;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The handlers of all users. */
export type UserHandlers = Pick<IAMLocalUserServiceHandlers, "listUsers" | "createUser">;

/** The handlers of IAMLocalUserService that list and create users. */
export function userHandlers(options: UserHandlersOptions): UserHandlers {
  const { accounts, pages, hasher, groups, rights, pageTokens, organization } = options;
  return {
    async listUsers(request, context) {
      assertOwnOrganization(context, organization);
      const size = pageSizeOf(request);
      const caller = requirePrincipal(context);
      const tokens = new PageTokens(new SealedTokens(pageTokens, LIST_USERS, caller));
      // One more than is returned shows whether there is a next page.
      const found = await pages.list(tokens.read(request.pageToken), size + 1);
      const page = found.slice(0, size);
      const groupIds = await groups.ofUsers(
        page.map(({ id }) => id),
        context,
      );
      const last = page.at(-1);
      return {
        users: page.map((account) => userOf(account, groupIds.get(account.id) ?? [])),
        nextPageToken:
          found.length > size && last !== undefined ? tokens.after(usernameKey(last.username)) : "",
      };
    },

    async createUser(request, context) {
      assertOwnOrganization(context, organization);
      await assertValid(request);
      const { username, displayName, email } = request;
      const id = creationId(context);
      // Of an earlier call with the same key, whose process has ended before it could say so.
      const made = await accounts.find(id);
      if (made !== undefined) return created(made, context);
      const passwordHash = await hash(hasher, request.password, context.signal);
      // It may have waited for others: a right that was lost meanwhile does not count.
      await rights.assertManages(requirePrincipal(context), context.signal);
      const account = await accounts.create({ username, displayName, email, passwordHash }, id);
      if (account === undefined) {
        throw new ServiceError("ALREADY_EXISTS", "the user name is taken");
      }
      return created(account, context);
    },
  };
}

function created(account: LocalAccount, { audit }: CallContext) {
  audit.setResource(`user:${account.id}`);
  return { user: userOf(account, []) };
}

async function assertValid(request: CreateUserRequest): Promise<void> {
  const { username, displayName, email, password } = request;
  refuseInvalidFields({
    username: usernameProblem(username),
    display_name: displayNameProblem(displayName),
    email: emailProblem(email),
    password: await passwordProblem(password, request),
  });
}

async function hash(hasher: PasswordHasher, password: string, signal: AbortSignal) {
  try {
    return await hasher.hash(password, signal);
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    throw new ServiceError("UNAVAILABLE", "too many passwords are being hashed", {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
}
