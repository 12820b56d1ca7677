import { randomBytes } from "node:crypto";
import { IAMDirectoryService } from "../../../gen/svc/iam/v1/directory_pb.ts";
import { IAMDirectoryServiceRoutes } from "../../../gen/svc/iam/v1/directory_server.ts";
import {
  IAMSecondFactorService,
  RemoveUserSecondFactorsResponseSchema,
} from "../../../gen/svc/iam/v1/second_factors_pb.ts";
import { IAMSecondFactorServiceRoutes } from "../../../gen/svc/iam/v1/second_factors_server.ts";
import { type User, UserSchema } from "../../../gen/svc/iam/v1/user_pb.ts";
import {
  CreatePasswordResetLinkResponseSchema,
  IAMLocalUserService,
  IAMPasswordService,
} from "../../../gen/svc/iam/v1/users_pb.ts";
import {
  IAMLocalUserServiceRoutes,
  IAMPasswordServiceRoutes,
} from "../../../gen/svc/iam/v1/users_server.ts";
import { type Connection, connect } from "../connection/connection.ts";
import { idOf } from "../connection/names.ts";
import { CommandError, nothingToChange } from "../run/command-error.ts";
import { confirmationOf, terminalConfirmationOf, withId } from "../run/confirm.ts";
import type { ConfirmFlags } from "../run/confirm-flag.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { readSmallFile } from "../run/input.ts";
import { readPages } from "../run/pages.ts";
import { printable, printJson, printLine } from "../run/print.ts";
import { printDone, printList, printMessage, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import { timeText } from "../run/times.ts";

const USERS: Shown<typeof UserSchema> = {
  schema: UserSchema,
  name: ["user", "users"],
  columns: [
    ["ID", ({ id }) => id],
    ["USER NAME", ({ username }) => username],
    ["E-MAIL", ({ email }) => email],
    ["STATE", ({ disabled }) => (disabled ? "disabled" : "enabled")],
    ["NAME", ({ displayName }) => displayName],
  ],
};

/** Lists users. @returns the exit code */
export async function listUsers(
  flags: ListFlags & { readonly query?: string; readonly group?: string },
): Promise<number> {
  const { query = "", group, limit, format } = flags;
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = group === undefined ? "" : await idOf(connection, "group", group);
  const directory = connection.client(IAMDirectoryService, IAMDirectoryServiceRoutes);
  const listed = await readPages(limit, async (page) => {
    const found = await directory.listUsers({ ...page, organizationId, query, groupId });
    return { items: found.users, next: found.nextPageToken };
  });
  await printList(USERS, listed, format);
  return EXIT.done;
}

/** Shows a user. @returns the exit code */
export async function getUser(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const { organizationId } = connection;
  const userId = await idOf(connection, "user", given);
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  const directory = connection.client(IAMDirectoryService, IAMDirectoryServiceRoutes);
  // Those of another identity provider are in the directory only, which has no etag.
  const { user } = await users.getUser({ userId }).catch((error: { readonly code?: string }) => {
    if (error.code !== "UNIMPLEMENTED") throw error;
    return directory.getUser({ organizationId, userId });
  });
  await printMessage(UserSchema, user as User, format);
  return EXIT.done;
}

/** The flags of `svc-iam user create`. */
export interface CreateUserFlags extends CallFlags {
  readonly email: string;
  readonly displayName?: string;
  readonly passwordFile?: string;
}

/** Creates a user. @returns the exit code */
export async function createUser(username: string, flags: CreateUserFlags): Promise<number> {
  const { email, displayName = username, passwordFile, format } = flags;
  const given = passwordFile === undefined ? undefined : firstLine(passwordFile);
  await using connection = await connect();
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  const password = given ?? randomBytes(48).toString("base64url");
  const { user } = await users.createUser({ username, email, displayName, password });
  await printDone(UserSchema, user as User, `user ${username} created: ${user?.id}`, format);
  // JSON has one document; its reader makes the link with the id that it has.
  if (given !== undefined || format === "json") return EXIT.done;
  await showLink(connection, user?.id ?? "", format).catch((error: Error) => {
    const { message } = error;
    const advice = `svc-iam user reset-link ${user?.id} makes the link by which the user sets a password`;
    throw new CommandError(`the user is created, but has no link (${message}): ${advice}`, {
      cause: error,
    });
  });
  return EXIT.done;
}

/** The flags of `svc-iam user update`. */
export interface UpdateUserFlags extends CallFlags {
  readonly username?: string;
  readonly displayName?: string;
  readonly email?: string;
  readonly avatarUrl?: string;
  readonly etag?: string;
}

/** Changes a user. @returns the exit code */
export async function updateUser(given: string, flags: UpdateUserFlags): Promise<number> {
  const { format, etag = "", ...changes } = flags;
  const paths = Object.keys(changes).map((name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  if (paths.length === 0) {
    throw nothingToChange("--username, --display-name, --email or --avatar-url");
  }
  await using connection = await connect();
  const userId = await idOf(connection, "user", given);
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  const { user } = await users.updateUser({
    userId,
    user: { ...changes, etag },
    updateMask: { paths },
  });
  await printDone(UserSchema, user as User, `user ${user?.username} changed`, format);
  return EXIT.done;
}

/** Bars a user from logging in. @returns the exit code */
export async function disableUser(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const userId = await idOf(connection, "user", given);
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  const { user } = await users.disableUser({ userId });
  await printDone(UserSchema, user as User, `user ${user?.username} disabled`, format);
  return EXIT.done;
}

/** Lets a user log in again. @returns the exit code */
export async function enableUser(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const userId = await idOf(connection, "user", given);
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  const { user } = await users.enableUser({ userId });
  await printDone(UserSchema, user as User, `user ${user?.username} enabled`, format);
  return EXIT.done;
}

/** Deletes a user. @returns the exit code */
export async function deleteUser(
  given: string,
  { format, ...flags }: CallFlags & ConfirmFlags,
): Promise<number> {
  const confirm = confirmationOf(flags);
  await using connection = await connect();
  const userId = await idOf(connection, "user", given);
  await confirm(`delete the user ${withId(given, userId)}, with all relationships?`);
  const users = connection.client(IAMLocalUserService, IAMLocalUserServiceRoutes);
  await users.deleteUser({ userId });
  if (format === "json") await printJson({ id: userId });
  else say(`user ${printable(given)} deleted`);
  return EXIT.done;
}

/** Makes a link for a new password. @returns the exit code */
export async function makeResetLink(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  await showLink(connection, await idOf(connection, "user", given), format);
  return EXIT.done;
}

/** Removes the second factors of a user. @returns the exit code */
export async function removeFactors(
  given: string,
  { format, ...flags }: CallFlags & ConfirmFlags,
): Promise<number> {
  await using connection = await connect();
  const userId = await idOf(connection, "user", given);
  await terminalConfirmationOf(flags)?.(
    `remove the second factors and recovery codes of the user ${withId(given, userId)}?`,
  );
  const factors = connection.client(IAMSecondFactorService, IAMSecondFactorServiceRoutes);
  const removed = await factors.removeUserSecondFactors({ userId });
  const count = removed.removedCount;
  const what = count === 1 ? "1 second factor" : `${count} second factors`;
  const name = printable(given);
  const done =
    count === 0
      ? `user ${name} has no second factor`
      : `${what} of user ${name} removed, with the recovery codes`;
  await printDone(RemoveUserSecondFactorsResponseSchema, removed, done, format);
  return EXIT.done;
}

async function showLink(
  connection: Connection,
  userId: string,
  format: CallFlags["format"],
): Promise<void> {
  const passwords = connection.client(IAMPasswordService, IAMPasswordServiceRoutes);
  const made = await passwords.createPasswordResetLink({ userId });
  if (format === "json") return printMessage(CreatePasswordResetLinkResponseSchema, made, format);
  await printLine(printable(made.url));
  say(
    `the person who uses this link sets the password: it works once, until ${timeText(made.expireTime)}`,
  );
}

function firstLine(file: string): string {
  const [line = ""] = readSmallFile("--password-file", file).split(/\r?\n/, 1);
  return line;
}
