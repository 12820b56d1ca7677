import {
  CreateServiceAccountKeyResponseSchema,
  IAMServiceAccountService,
  ServiceAccountKeyKind,
  ServiceAccountKeySchema,
} from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import { IAMServiceAccountServiceRoutes } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { connect } from "../connection/connection.ts";
import { idOf } from "../connection/names.ts";
import { terminalConfirmationOf, withId } from "../run/confirm.ts";
import type { ConfirmFlags } from "../run/confirm-flag.ts";
import type { CallFlags } from "../run/flags.ts";
import { readSmallFile } from "../run/input.ts";
import { printable, printJson, printLine } from "../run/print.ts";
import { printList, printMessage, type Shown } from "../run/print-messages.ts";
import { advising } from "../run/refusal.ts";
import { EXIT, say } from "../run/run-command.ts";
import { timeOf, timeText } from "../run/times.ts";

const KINDS: Readonly<Record<ServiceAccountKeyKind, string>> = {
  [ServiceAccountKeyKind.UNSPECIFIED]: "",
  [ServiceAccountKeyKind.SECRET]: "secret",
  [ServiceAccountKeyKind.PUBLIC_KEY]: "public key",
};

const KEYS: Shown<typeof ServiceAccountKeySchema> = {
  schema: ServiceAccountKeySchema,
  name: ["key", "keys"],
  columns: [
    ["ID", ({ id }) => id],
    ["KIND", ({ kind }) => KINDS[kind] ?? ""],
    ["CREATED", ({ createTime }) => timeText(createTime)],
    ["EXPIRES", ({ expireTime }) => timeText(expireTime)],
  ],
};

/** Lists the keys of a service account. @returns the exit code */
export async function listKeys(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { keys } = await accounts.listServiceAccountKeys({ serviceAccountId });
  await printList(KEYS, { items: keys, hasMore: false }, format);
  return EXIT.done;
}

/** The flags of `svc-iam service-account key create`. */
export interface CreateKeyFlags extends CallFlags {
  readonly publicKey?: string;
  readonly expires?: string;
}

/** Makes a key of a service account. @returns the exit code */
export async function createKey(given: string, flags: CreateKeyFlags): Promise<number> {
  const { publicKey: file, expires, format } = flags;
  const expireTime = expires === undefined ? {} : { expireTime: timeOf("--expires", expires, 1) };
  const publicKey = file === undefined ? "" : readSmallFile("--public-key", file);
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const made = await accounts.createServiceAccountKey({
    serviceAccountId,
    publicKey,
    ...expireTime,
  });
  if (format === "json") {
    await printMessage(CreateServiceAccountKeyResponseSchema, made, format);
    return EXIT.done;
  }
  if (made.secret !== "") await printLine(printable(made.secret));
  say(`key ${made.key?.id} of the service account ${serviceAccountId} created`);
  return EXIT.done;
}

/** Deletes a key of a service account. @returns the exit code */
export async function deleteKey(
  given: string,
  keyId: string,
  { format, ...flags }: CallFlags & ConfirmFlags,
): Promise<number> {
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const what = `the key ${printable(keyId)} of the service account ${withId(given, serviceAccountId)}`;
  await terminalConfirmationOf(flags)?.(`delete ${what}?`);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const deleted = accounts.deleteServiceAccountKey({ serviceAccountId, keyId });
  const list = `svc-iam service-account key list ${given} shows them`;
  await advising(deleted, "RESOURCE_NOT_FOUND", list);
  if (format === "json") await printJson({ id: keyId });
  else say(`key ${printable(keyId)} deleted`);
  return EXIT.done;
}
