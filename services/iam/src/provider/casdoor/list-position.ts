import { ServiceError } from "svc-access/runtime";

const USERS = "casdoor.users.";
const GROUPS = "casdoor.groups.";

/** The position after so many users. Casdoor has no other: users that are added move it. */
export function writeUserPosition(count: number): string {
  return `${USERS}${count}`;
}

/**
 * How many users come before; 0 for the first page.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not of `writeUserPosition`
 */
export function readUserPosition(text: string): number {
  if (text === "") return 0;
  const [, digits] = /^casdoor\.users\.([1-9]\d{0,8})$/.exec(text) ?? [];
  if (digits === undefined) throw notOurs();
  return Number(digits);
}

/** The position after a group. */
export function writeGroupPosition(id: string): string {
  return GROUPS + Buffer.from(id).toString("base64url");
}

/**
 * The group that comes before; empty for the first page.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not of `writeGroupPosition`
 */
export function readGroupPosition(text: string): string {
  if (text === "") return "";
  const id = Buffer.from(text.slice(GROUPS.length), "base64url").toString();
  if (id === "" || text !== writeGroupPosition(id)) throw notOurs();
  return id;
}

function notOurs(): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
}
