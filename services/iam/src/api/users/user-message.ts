import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { UserSchema } from "../../../gen/svc/iam/v1/user_pb.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";

/** A local user as callers see it. */
export function userOf(
  account: LocalAccount,
  groupIds: readonly string[],
): MessageInitShape<typeof UserSchema> {
  const { id, username, displayName, email, organizationId, avatarUrl, disabled, etag } = account;
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
    etag,
  };
}

/** The RPC that page tokens of the local users belong to. */
export const LIST_USERS = "IAMLocalUserService/ListUsers";
