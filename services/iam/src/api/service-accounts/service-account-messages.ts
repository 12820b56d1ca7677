import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ServiceAccountKeyKind,
  type ServiceAccountKeySchema,
  type ServiceAccountSchema,
} from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import type { ServiceAccountKey } from "../../people/accounts/service-accounts/service-account.ts";
import type { KnownAccount } from "./known-accounts.ts";

/** A service account as callers see it. */
export function accountMessage(known: KnownAccount): MessageInitShape<typeof ServiceAccountSchema> {
  const { id, displayName, audience } = known.account;
  const fields = { id, displayName, audience: [...audience], declared: known.declared };
  if (known.declared) return fields;
  const { disabled, etag, createTime, updateTime } = known.account;
  return {
    ...fields,
    disabled,
    etag,
    createTime: timestampFromMs(createTime),
    updateTime: timestampFromMs(updateTime),
  };
}

/** A key as callers see it, without what is secret. */
export function keyMessage(
  key: ServiceAccountKey,
): MessageInitShape<typeof ServiceAccountKeySchema> {
  const { id, publicKey, createTime, expireTime } = key;
  return {
    id,
    kind: publicKey === undefined ? ServiceAccountKeyKind.SECRET : ServiceAccountKeyKind.PUBLIC_KEY,
    publicKey: publicKey === undefined ? "" : JSON.stringify(publicKey),
    createTime: timestampFromMs(createTime),
    ...(expireTime === undefined ? {} : { expireTime: timestampFromMs(expireTime) }),
  };
}
