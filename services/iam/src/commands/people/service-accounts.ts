import {
  IAMServiceAccountService,
  type ServiceAccount,
  ServiceAccountSchema,
} from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import { IAMServiceAccountServiceRoutes } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { connect } from "../connection/connection.ts";
import { idOf } from "../connection/names.ts";
import { nothingToChange } from "../run/command-error.ts";
import { confirmationOf, withId } from "../run/confirm.ts";
import type { ConfirmFlags } from "../run/confirm-flag.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { readPages } from "../run/pages.ts";
import { printable, printJson } from "../run/print.ts";
import { printDone, printList, printMessage, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import { warnOfSameName } from "./same-names.ts";

const ACCOUNTS: Shown<typeof ServiceAccountSchema> = {
  schema: ServiceAccountSchema,
  name: ["service account", "service accounts"],
  columns: [
    ["ID", ({ id }) => id],
    ["STATE", ({ disabled }) => (disabled ? "disabled" : "enabled")],
    ["MADE BY", ({ declared }) => (declared ? "configuration" : "API")],
    ["NAME", ({ displayName }) => displayName],
  ],
};

/** Lists service accounts. @returns the exit code */
export async function listServiceAccounts({ limit, format }: ListFlags): Promise<number> {
  await using connection = await connect();
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const listed = await readPages(limit, async (page) => {
    const found = await accounts.listServiceAccounts(page);
    return { items: found.serviceAccounts, next: found.nextPageToken };
  });
  await printList(ACCOUNTS, listed, format);
  return EXIT.done;
}

/** Shows a service account. @returns the exit code */
export async function getServiceAccount(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { serviceAccount } = await accounts.getServiceAccount({ serviceAccountId });
  await printMessage(ServiceAccountSchema, serviceAccount as ServiceAccount, format);
  return EXIT.done;
}

/** The flags of `svc-iam service-account create`. */
export interface CreateAccountFlags extends CallFlags {
  readonly audience?: string[];
}

/** Creates a service account. @returns the exit code */
export async function createServiceAccount(
  displayName: string,
  { audience = [], format }: CreateAccountFlags,
): Promise<number> {
  await using connection = await connect();
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { serviceAccount } = await accounts.createServiceAccount({ displayName, audience });
  const id = serviceAccount?.id ?? "";
  const done = `service account ${printable(displayName)} created: ${id}`;
  await printDone(ServiceAccountSchema, serviceAccount as ServiceAccount, done, format);
  await warnOfSameName(connection, "service_account", { id, name: displayName });
  return EXIT.done;
}

/** Changes a service account. @returns the exit code */
export async function updateServiceAccount(
  given: string,
  flags: CreateAccountFlags & {
    readonly displayName?: string;
    readonly name?: string;
    readonly etag?: string;
  },
): Promise<number> {
  const { name, displayName = name, audience, etag = "", format } = flags;
  const paths = [
    ...(displayName === undefined ? [] : ["display_name"]),
    ...(audience === undefined ? [] : ["audience"]),
  ];
  if (paths.length === 0) {
    throw nothingToChange("--display-name or --audience");
  }
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { serviceAccount } = await accounts.updateServiceAccount({
    serviceAccountId,
    serviceAccount: { displayName: displayName ?? "", audience: audience ?? [], etag },
    updateMask: { paths },
  });
  const done = `service account ${printable(given)} changed`;
  await printDone(ServiceAccountSchema, serviceAccount as ServiceAccount, done, format);
  if (displayName !== undefined) {
    await warnOfSameName(connection, "service_account", {
      id: serviceAccountId,
      name: displayName,
    });
  }
  return EXIT.done;
}

/** Bars a service account from getting tokens. @returns the exit code */
export async function disableServiceAccount(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { serviceAccount } = await accounts.disableServiceAccount({ serviceAccountId });
  const done = `service account ${printable(given)} disabled`;
  await printDone(ServiceAccountSchema, serviceAccount as ServiceAccount, done, format);
  return EXIT.done;
}

/** Lets a service account get tokens again. @returns the exit code */
export async function enableServiceAccount(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  const { serviceAccount } = await accounts.enableServiceAccount({ serviceAccountId });
  const done = `service account ${printable(given)} enabled`;
  await printDone(ServiceAccountSchema, serviceAccount as ServiceAccount, done, format);
  return EXIT.done;
}

/** Deletes a service account. @returns the exit code */
export async function deleteServiceAccount(
  given: string,
  { format, ...flags }: CallFlags & ConfirmFlags,
): Promise<number> {
  const confirm = confirmationOf(flags);
  await using connection = await connect();
  const serviceAccountId = await idOf(connection, "service_account", given);
  const what = `the service account ${withId(given, serviceAccountId)}`;
  await confirm(`delete ${what}, with its keys?`);
  const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
  await accounts.deleteServiceAccount({ serviceAccountId });
  if (format === "json") await printJson({ id: serviceAccountId });
  else say(`service account ${printable(given)} deleted`);
  return EXIT.done;
}
