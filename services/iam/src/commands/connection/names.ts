import { IAMDirectoryService } from "../../../gen/svc/iam/v1/directory_pb.ts";
import { IAMDirectoryServiceRoutes } from "../../../gen/svc/iam/v1/directory_server.ts";
import { IAMGroupService } from "../../../gen/svc/iam/v1/groups_pb.ts";
import { IAMGroupServiceRoutes } from "../../../gen/svc/iam/v1/groups_server.ts";
import { IAMServiceAccountService } from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import { IAMServiceAccountServiceRoutes } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { CommandError } from "../run/command-error.ts";
import { readPages } from "../run/pages.ts";
import { say } from "../run/run-command.ts";
import { withinRate } from "../run/within-rate.ts";
import type { Connection } from "./connection.ts";
import type { WrittenObject } from "./references.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The most objects that are looked through for a name. */
const MOST = 10_000;

/** The caller may not list the objects of a type, or the service has no directory of them. */
export const NOT_LISTED: ReadonlySet<string | undefined> = new Set(["FORBIDDEN", "UNIMPLEMENTED"]);

/** What a name may stand for. */
interface Named {
  readonly id: string;
  readonly names: readonly string[];
}

/** How long is searched. */
interface Search {
  /** The most objects that are looked through. */
  readonly most?: number;
  readonly signal?: AbortSignal;
}

/** How the objects of a type are found by what people call them. */
interface Kind {
  readonly type: string;
  /** What is searched: `user name or e-mail address`. */
  readonly names: string;
  find(connection: Connection, name: string, search?: Search): Promise<readonly Named[]>;
}

/** The types whose objects have names. */
export const KINDS: readonly Kind[] = [
  {
    type: "user",
    names: "user name or e-mail address",
    async find(connection, query, { most = MOST, ...options } = {}) {
      const directory = connection.client(IAMDirectoryService, IAMDirectoryServiceRoutes);
      const { organizationId } = connection;
      const { items } = await readPages(most, async (page) => {
        const found = await directory.listUsers({ ...page, organizationId, query }, options);
        return { items: found.users, next: found.nextPageToken };
      });
      return items.map(({ id, username, email }) => ({ id, names: [username, email] }));
    },
  },
  {
    type: "group",
    names: "name",
    async find(connection, _, { most = MOST, ...options } = {}) {
      const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
      const { organizationId } = connection;
      const { items } = await readPages(most, async (page) => {
        const found = await groups.listVisibleGroups({ ...page, organizationId }, options);
        return { items: found.groups, next: found.nextPageToken };
      });
      return items.map(({ id, displayName }) => ({ id, names: [displayName] }));
    },
  },
  {
    type: "service_account",
    names: "name",
    async find(connection, _, { most = MOST, ...options } = {}) {
      const accounts = connection.client(IAMServiceAccountService, IAMServiceAccountServiceRoutes);
      const { items } = await readPages(most, async (page) => {
        const found = await accounts.listServiceAccounts(page, options);
        return { items: found.serviceAccounts, next: found.nextPageToken };
      });
      return items.map(({ id, displayName }) => ({ id, names: [displayName] }));
    },
  },
];

/**
 * The id of a user, group or service account that a person names: an id, or a name that stands for one.
 *
 * @throws CommandError if nothing has the name, several have it, or more objects than are looked through may have it
 */
export async function idOf(
  connection: Connection,
  type: "user" | "group" | "service_account",
  given: string,
): Promise<string> {
  if (UUID.test(given)) return given;
  // Whoever has no e-mail address would have it, where a variable of a shell is not set.
  if (given === "") throw new CommandError(`the ${type.replace("_", " ")} is empty: name one`);
  const kind = KINDS.find((one) => one.type === type) as Kind;
  const found = await kind.find(connection, given);
  return (await isIdToo(connection, kind, { given, found })) ? given : oneOf(kind, given, found);
}

/**
 * An object or subject, whose id may be a name. Where the caller may not search, or the service has no
 * directory, it is taken for an id.
 *
 * @param missing what the message on a name that nobody has says at its end
 * @throws CommandError if nothing has the name, several have it, or it is the id of another
 */
export async function namedObject<Written extends WrittenObject>(
  connection: Connection,
  written: Written,
  missing = "",
): Promise<Written> {
  const kind = KINDS.find(({ type }) => type === written.type);
  if (kind === undefined || UUID.test(written.id)) return written;
  let found: readonly Named[];
  try {
    found = await kind.find(connection, written.id);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (!NOT_LISTED.has(code)) throw error;
    if (code === "FORBIDDEN") {
      const what = written.type.replace("_", " ");
      say(
        `${JSON.stringify(written.id)} is taken for an id: you may not look up names of ${what}s`,
      );
    }
    return written;
  }
  const isId = await isIdToo(connection, kind, {
    given: written.id,
    found,
    hint: "; the JSON of svc-iam relationship import has ids only",
  });
  return isId ? written : { ...written, id: oneOf(kind, written.id, found, missing) };
}

/**
 * Whether what is not in the form of our own ids is an id, too.
 *
 * @throws CommandError if it is the name of another
 */
async function isIdToo(
  connection: Connection,
  { type, names }: Kind,
  { given, found, hint = "" }: { given: string; found: readonly Named[]; hint?: string },
): Promise<boolean> {
  const isId =
    found.some(({ id }) => id === given) || (type === "user" && (await isUser(connection, given)));
  if (!isId) return false;
  const [other] = withName(found, given).filter(({ id }) => id !== given);
  if (other === undefined) return true;
  throw new CommandError(
    `${JSON.stringify(given)} is the id of one ${type.replace("_", " ")} and the ${names} of another: write ${other.id} for the latter${hint}`,
  );
}

/** The codes of a read that finds no user with an id, or of a service that has no directory. */
const NO_USER: ReadonlySet<string | undefined> = new Set([
  ...NOT_LISTED,
  "INVALID_ARGUMENT",
  "RESOURCE_NOT_FOUND",
]);

/** Whether a user has an id: users are searched by their names only. */
async function isUser(connection: Connection, userId: string): Promise<boolean> {
  const directory = connection.client(IAMDirectoryService, IAMDirectoryServiceRoutes);
  try {
    const { organizationId } = connection;
    await withinRate(() => directory.getUser({ organizationId, userId }));
    return true;
  } catch (error) {
    if (NO_USER.has((error as { readonly code?: string }).code)) return false;
    throw error;
  }
}

/** The most objects that are looked through for others with a name. */
const MOST_OTHERS = 2000;

/**
 * The ids of others with the same name, in any letter case, among the first some thousand.
 *
 * @throws ServiceError if the caller may not list them
 */
export async function othersNamed(
  connection: Connection,
  type: "group" | "service_account",
  { id, name }: { readonly id: string; readonly name: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const kind = KINDS.find((one) => one.type === type) as Kind;
  const found = await kind.find(connection, name, { most: MOST_OTHERS, signal });
  return withName(found, name).flatMap((one) => (one.id === id ? [] : [one.id]));
}

function withName(all: readonly Named[], name: string): readonly Named[] {
  const wanted = name.toLowerCase();
  return all.filter(({ names }) => names.some((one) => one.toLowerCase() === wanted));
}

function oneOf({ type, names }: Kind, given: string, all: readonly Named[], hint = ""): string {
  const found = withName(all, given);
  const [first, ...others] = found;
  const what = type.replace("_", " ");
  if (all.length === MOST && others.length === 0) {
    throw new CommandError(
      `${JSON.stringify(given)} was looked for among the first ${MOST} ${what}s only, and others may have the name: name one by its id`,
    );
  }
  if (first === undefined) {
    throw new CommandError(
      `no ${what} has the id or ${names} ${JSON.stringify(given)}: svc-iam ${type.replace("_", "-")} list shows them${hint}`,
    );
  }
  if (others.length === 0) return first.id;
  const ids = found.slice(0, 5).map(({ id }) => id);
  throw new CommandError(
    `${found.length} ${what}s have the ${names} ${JSON.stringify(given)}: name one by its id, such as ${ids.join(", ")}`,
  );
}
