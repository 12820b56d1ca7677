import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { UserSchema } from "../../gen/svc/iam/v1/user_pb.ts";
import type { LocalAccount } from "../accounts/account-row.ts";
import { usernameKey } from "../accounts/username.ts";
import { PageTokens } from "../rpc/page-tokens.ts";
import { isStorable } from "../store/storable-text.ts";

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

/** The page tokens of lists of users, by their normalized user names. */
export const USER_PAGES = new PageTokens(
  "users",
  (name) => name !== "" && usernameKey(name) === name && isStorable(name),
);
