import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import type { UserSchema } from "../../gen/svc/iam/v1/user_pb.ts";
import type { CreateUserRequest } from "../../gen/svc/iam/v1/users_pb.ts";
import type { IAMLocalUserServiceHandlers } from "../../gen/svc/iam/v1/users_server.ts";
import { displayNameProblem } from "../accounts/display-name.ts";
import { emailProblem } from "../accounts/email-address.ts";
import type { LocalAccount, LocalAccounts } from "../accounts/local-accounts.ts";
import type { PasswordHasher } from "../accounts/passwords/password-hasher.ts";
import { passwordProblem } from "../accounts/passwords/password-rules.ts";
import { usernameProblem } from "../accounts/username.ts";
import { QueueFullError } from "../queue/work-queue.ts";
import type { Groups } from "./groups.ts";
import { assertOwnOrganization } from "./own-organization.ts";
import { readPageToken, writePageToken } from "./page-token.ts";

/** What the handlers need. */
export interface UserHandlersOptions {
  readonly accounts: LocalAccounts;
  readonly hasher: PasswordHasher;
  readonly groups: Groups;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/** The handlers of IAMLocalUserService. */
export function userHandlers(options: UserHandlersOptions): IAMLocalUserServiceHandlers {
  const { accounts, hasher, groups, organization } = options;
  return {
    async listUsers({ pageSize, pageToken }, context) {
      assertOwnOrganization(context, organization);
      if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
        throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
      }
      const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
      // One more than is returned shows whether there is a next page.
      const found = await accounts.list(readPageToken(pageToken), size + 1);
      const page = found.slice(0, size);
      const groupIds = await groups.ofUsers(
        page.map(({ id }) => id),
        context,
      );
      const last = page.at(-1);
      return {
        users: page.map((account) => userOf(account, groupIds.get(account.id) ?? [])),
        nextPageToken: found.length > size && last !== undefined ? writePageToken(last) : "",
      };
    },

    async createUser(request, context) {
      assertOwnOrganization(context, organization);
      await assertValid(request);
      const passwordHash = await hash(hasher, request.password, context.signal);
      const { username, displayName, email } = request;
      const account = await accounts.create({ username, displayName, email, passwordHash });
      if (account === undefined) {
        throw new ServiceError("ALREADY_EXISTS", "the user name is taken");
      }
      context.audit.setResource(`user:${account.id}`);
      return { user: userOf(account, []) };
    },
  };
}

async function assertValid(request: CreateUserRequest): Promise<void> {
  const { username, displayName, email, password } = request;
  const problems = {
    username: usernameProblem(username),
    display_name: displayNameProblem(displayName),
    email: emailProblem(email),
    password: await passwordProblem(password, request),
  };
  const found = Object.entries(problems).filter((entry) => entry[1] !== undefined);
  if (found.length === 0) return;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    found.map(([field, problem]) => `${field} ${problem}`).join("; "),
    { details: { fields: Object.fromEntries(found) } },
  );
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

function userOf(
  account: LocalAccount,
  groupIds: readonly string[],
): MessageInitShape<typeof UserSchema> {
  const { id, username, displayName, email, organizationId, avatarUrl, disabled } = account;
  return {
    id,
    username,
    displayName,
    email,
    organizationId,
    groupIds: [...groupIds],
    avatarUrl,
    disabled,
    createTime: timestampFromMs(account.createTime),
    updateTime: timestampFromMs(account.updateTime),
  };
}
