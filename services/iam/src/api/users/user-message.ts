import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { User } from "../../../gen/svc/iam/v1/user_pb.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";

/**
 * A local user as callers see it. A whole message: what only has the values of one would be copied, field by field,
 * and pages of users are long.
 */
export function userOf(account: LocalAccount, groupIds: readonly string[]): User {
  const { id, username, displayName, email, organizationId, avatarUrl, disabled, etag } = account;
  return {
    $typeName: "svc.iam.v1.User",
    id,
    username,
    displayName,
    email,
    organizationId,
    groupIds: [...groupIds],
    avatarUrl,
    disabled,
    createTime: timestampOf(account.createTime),
    updateTime: timestampOf(account.updateTime),
    etag,
  };
}

function timestampOf(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (milliseconds - seconds * 1000) * 1_000_000,
  };
}

/** The RPC that page tokens of the local users belong to. */
export const LIST_USERS = "IAMLocalUserService/ListUsers";
