import { create } from "@bufbuild/protobuf";
import type { CallContext } from "svc-access/runtime";
import { UserSchema } from "../../../gen/svc/iam/v1/user_pb.ts";
import type { UpdateUserRequest } from "../../../gen/svc/iam/v1/users_pb.ts";
import type { IAMLocalUserServiceHandlers } from "../../../gen/svc/iam/v1/users_server.ts";
import { refuseFixedFields } from "../../ground/rpc/fixed-fields.ts";
import { changeNewest } from "../../ground/rpc/lost-race.ts";
import { changedFields, refuseInvalidFields } from "../../ground/rpc/request-fields.ts";
import type { AccountChange } from "../../people/accounts/account-changes.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";
import {
  avatarUrlProblem,
  displayNameProblem,
  emailProblem,
} from "../../people/accounts/account-texts.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import { usernameProblem } from "../../people/accounts/username-problem.ts";
import { localUser } from "../own-organization.ts";
import type { ShownGroups } from "./shown-groups.ts";
import { changedMeanwhile, type UserChanges } from "./user-changes.ts";
import { userOf } from "./user-message.ts";

/** What the handlers need. */
export interface UserChangeHandlersOptions {
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly changes: UserChanges;
  readonly groups: ShownGroups;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The handlers of one user. */
export type UserChangeHandlers = Pick<
  IAMLocalUserServiceHandlers,
  "getUser" | "updateUser" | "disableUser" | "enableUser" | "deleteUser"
>;

/** The handlers of IAMLocalUserService that read and change one user. */
export function userChangeHandlers(options: UserChangeHandlersOptions): UserChangeHandlers {
  const { changes, groups } = options;
  const found = (userId: string, context: CallContext) => localUser(userId, options, context);
  const shown = async (account: LocalAccount, context: CallContext) => ({
    user: userOf(account, await groups.ofUser(account.id, context)),
  });
  const update = async (request: UpdateUserRequest, context: CallContext) => {
    const account = await found(request.userId, context);
    const change = changeOf(request, account);
    const etag = request.user?.etag ?? "";
    if (etag !== "" && etag !== account.etag) throw changedMeanwhile();
    const { user: given, updateMask: mask } = request;
    const before = async () => create(UserSchema, (await shown(account, context)).user);
    await refuseFixedFields({ schema: UserSchema, given, mask, changeable: CHANGEABLE }, before);
    if (Object.keys(change).length === 0) return shown(account, context);
    const changed = await changes.update(account, change, context);
    return shown(changed, context);
  };
  return {
    async getUser({ userId }, context) {
      return shown(await found(userId, context), context);
    },

    async updateUser(request, context) {
      const etag = request.user?.etag ?? "";
      return changeNewest(etag, context.signal, () => update(request, context));
    },

    async disableUser({ userId }, context) {
      return shown(await changes.disable(await found(userId, context), context), context);
    },

    async enableUser({ userId }, context) {
      return shown(await changes.enable(await found(userId, context), context), context);
    },

    async deleteUser({ userId }, context) {
      await changes.delete(await found(userId, context), context);
      return {};
    },
  };
}

const CHANGEABLE = ["username", "display_name", "email", "avatar_url"];

/** @throws ServiceError INVALID_ARGUMENT for fields and values that are not valid */
function changeOf({ user, updateMask }: UpdateUserRequest, account: LocalAccount): AccountChange {
  const { username = "", displayName = "", email = "", avatarUrl = "" } = user ?? {};
  const changed = changedFields(updateMask, {
    username: username !== "",
    display_name: displayName !== "",
    email: email !== "",
    avatar_url: avatarUrl !== "",
  });
  const has = (field: Parameters<typeof changed.has>[0]) => changed.has(field);
  // A user keeps the names and the address of before a rule on new ones, also if a client sends all fields.
  const isRenamed = has("username") && username !== account.username;
  const isReaddressed = has("email") && email !== account.email;
  const isShownAnew = has("display_name") && displayName !== account.displayName;
  refuseInvalidFields({
    username: isRenamed ? usernameProblem(username) : undefined,
    display_name: isShownAnew ? displayNameProblem(displayName) : undefined,
    email: isReaddressed ? emailProblem(email) : undefined,
    avatar_url: has("avatar_url") ? avatarUrlProblem(avatarUrl) : undefined,
  });
  return {
    ...(has("username") ? { username } : {}),
    ...(has("display_name") ? { displayName } : {}),
    ...(has("email") ? { email } : {}),
    ...(has("avatar_url") ? { avatarUrl } : {}),
  };
}
