import { type CallContext, creationId, ServiceError } from "svc-access/runtime";
import type { CreateUserRequest } from "../../gen/svc/iam/v1/users_pb.ts";
import type { IAMLocalUserServiceHandlers } from "../../gen/svc/iam/v1/users_server.ts";
import type { LocalAccount } from "../accounts/account-row.ts";
import { displayNameProblem } from "../accounts/display-name.ts";
import { emailProblem } from "../accounts/email-address.ts";
import type { LocalAccounts } from "../accounts/local-accounts.ts";
import type { PasswordHasher } from "../accounts/passwords/password-hasher.ts";
import { passwordProblem } from "../accounts/passwords/password-rules.ts";
import type { UserPages } from "../accounts/user-pages.ts";
import { usernameKey, usernameProblem } from "../accounts/username.ts";
import { QueueFullError } from "../queue/work-queue.ts";
import type { Groups } from "./groups.ts";
import { refuseInvalidFields } from "./invalid-fields.ts";
import { assertOwnOrganization } from "./own-organization.ts";
import { USER_PAGES, userOf } from "./user-message.ts";

/** What the handlers need. */
export interface UserHandlersOptions {
  readonly accounts: Pick<LocalAccounts, "create" | "find">;
  readonly pages: UserPages;
  readonly hasher: PasswordHasher;
  readonly groups: Groups;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/** The handlers of all users. */
export type UserHandlers = Pick<IAMLocalUserServiceHandlers, "listUsers" | "createUser">;

/** The handlers of IAMLocalUserService that list and create users. */
export function userHandlers(options: UserHandlersOptions): UserHandlers {
  const { accounts, pages, hasher, groups, organization } = options;
  return {
    async listUsers({ pageSize, pageToken }, context) {
      assertOwnOrganization(context, organization);
      if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
        throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
      }
      const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
      // One more than is returned shows whether there is a next page.
      const found = await pages.list(USER_PAGES.read(pageToken), size + 1);
      const page = found.slice(0, size);
      const groupIds = await groups.ofUsers(
        page.map(({ id }) => id),
        context,
      );
      const last = page.at(-1);
      return {
        users: page.map((account) => userOf(account, groupIds.get(account.id) ?? [])),
        nextPageToken:
          found.length > size && last !== undefined
            ? USER_PAGES.after(usernameKey(last.username))
            : "",
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
