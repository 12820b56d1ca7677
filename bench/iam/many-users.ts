/** Many users, made by one statement, and the places at which pages of them begin. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Far from each other, so that each page is of other leaves of the index. */
const STEP = 7919;
const DIGITS = 8;

/** The user name of one of them. */
export function userNameAt(place: number): string {
  return `u${String(place).padStart(DIGITS, "0")}`;
}

/** Where the page of a number begins; a page follows. */
export function placeOf(page: number, users: number): number {
  return (page * STEP) % (users - 2000);
}

/** Adds users to the database of a svc-iam that does not run. */
export function addUsers(folder: string, users: number): void {
  const database = new DatabaseSync(join(folder, "iam.db"));
  const name = `printf('u%0${DIGITS}d', n)`;
  database.exec(`insert into iam_users (id, username, username_key, display_name, display_key, email, email_key,
      avatar_url, password_version, disabled, etag, create_time, update_time)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${users})
    select lower(hex(randomblob(16))), ${name}, ${name}, 'User ' || n, 'user ' || n, ${name} || '@example.com',
      ${name} || '@example.com', '', 0, 0, lower(hex(randomblob(16))), 1700000000000 + n, 1700000000000 + n
    from numbers`);
  database.close();
}
