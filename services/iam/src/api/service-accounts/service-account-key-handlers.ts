import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceDatabase } from "svc-access/database";
import { ServiceError } from "svc-access/runtime";
import type { IAMServiceAccountServiceHandlers } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { refuseInvalidFields, required } from "../../ground/rpc/request-fields.ts";
import { isStorable } from "../../ground/store/storable-text.ts";
import type { IamTables } from "../../ground/store/tables.ts";
import { listKeys } from "../../people/accounts/service-accounts/service-account-keys.ts";
import type { KnownAccounts } from "./known-accounts.ts";
import { type PublicKey, readPublicKey } from "./public-key.ts";
import type { ServiceAccountKeyChanges } from "./service-account-key-changes.ts";
import { keyMessage } from "./service-account-messages.ts";

/** What the handlers need. */
export interface ServiceAccountKeyHandlersOptions {
  readonly database: Pick<ServiceDatabase<IamTables>, "kysely">;
  readonly known: KnownAccounts;
  readonly changes: ServiceAccountKeyChanges;
}

/** The handlers of the keys. */
export type ServiceAccountKeyHandlers = Pick<
  IAMServiceAccountServiceHandlers,
  "createServiceAccountKey" | "listServiceAccountKeys" | "deleteServiceAccountKey"
>;

/** The handlers of IAMServiceAccountService that create, list and delete keys. */
export function serviceAccountKeyHandlers(
  options: ServiceAccountKeyHandlersOptions,
): ServiceAccountKeyHandlers {
  const { database, known, changes } = options;
  return {
    async createServiceAccountKey({ serviceAccountId, publicKey, expireTime }, context) {
      const account = await known.changeable(serviceAccountId, context);
      const read = publicKey === "" ? undefined : await publicKeyOf(publicKey);
      const expires = expireTime === undefined ? undefined : millisecondsOf(expireTime);
      const { key, secret } = await changes.create(account, read, expires, context);
      return { key: keyMessage(key), secret };
    },

    async listServiceAccountKeys({ serviceAccountId }, context) {
      const { account } = await known.named(serviceAccountId, context);
      const keys = database.kysely.$pickTables<"iam_service_account_keys">();
      return { keys: (await listKeys(keys, account.id)).map(keyMessage) };
    },

    async deleteServiceAccountKey({ serviceAccountId, keyId }, context) {
      const id = required("key_id", keyId);
      refuseInvalidFields({ key_id: isStorable(id) ? undefined : "is not valid" });
      await changes.delete(await known.changeable(serviceAccountId, context), id, context);
      return {};
    },
  };
}

/** @throws ServiceError INVALID_ARGUMENT */
async function publicKeyOf(text: string): Promise<PublicKey> {
  const read = await readPublicKey(text);
  if (typeof read !== "string") return read;
  throw new ServiceError("INVALID_ARGUMENT", `public_key ${read}`, {
    details: { fields: { public_key: read } },
  });
}

/** @throws ServiceError INVALID_ARGUMENT */
function millisecondsOf(time: Timestamp): number {
  const milliseconds = timestampMs(time);
  const isTime = Number.isFinite(new Date(milliseconds).getTime());
  refuseInvalidFields({ expire_time: isTime ? undefined : "is not a time" });
  return milliseconds;
}
