/** Users who are found by what their names begin with. */
import { sql } from "svc-access/database";
import { describe, expect, test } from "vitest";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { addUserSearchKeys, searchKey } from "../../../src/ground/store/user-search-keys.ts";
import { usernameKey } from "../../../src/people/accounts/account-texts.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { UserSearch } from "../../../src/people/accounts/user-search.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { Random } from "../../support/random.ts";

const PARTS = ["an", "Bo", "ÉL", "zé", "𝒳x", "9"];
const ROUNDS = 60;

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin() {
    const database = (await create()).open().as<IamTables>();
    const accounts = new LocalAccounts(database.kysely as never, "acme");
    const search = new UserSearch(database.kysely as never, "acme");
    const add = async (username: string, displayName: string, email: string) => {
      const user = { username, displayName, email, passwordHash: "none" };
      return (await accounts.create(user)) ?? expect.fail(`${username} is taken`);
    };
    return { database, accounts, search, add };
  }
  type Found = Awaited<ReturnType<typeof begin>>;

  /** All pages of a search. */
  async function pages(
    page: (after: string) => ReturnType<UserSearch["search"]>,
  ): Promise<readonly string[]> {
    const names: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const { users, next }: Awaited<ReturnType<UserSearch["search"]>> = await page(after);
      names.push(...users.map(({ username }) => username));
      if (next !== undefined) expect(next > after).toBe(true);
      after = next;
    }
    return names;
  }
  const all = ({ search }: Pick<Found, "search">, text: string, limit = 3) =>
    pages((after) => search.search({ text, after, limit }));

  test("every text finds exactly those whose names begin with it, in pages of any size", async () => {
    const random = new Random(7);
    const word = () =>
      Array.from({ length: 1 + random.below(3) }, () => random.pick(PARTS)).join("");
    const it = await begin();
    const users: { username: string; displayName: string; email: string; id: string }[] = [];
    const taken = new Set<string>();
    while (users.length < ROUNDS) {
      const username = word().replaceAll("𝒳", "x") + users.length;
      if (taken.has(usernameKey(username))) continue;
      taken.add(usernameKey(username));
      users.push(await it.add(username, word(), `${word().replaceAll("𝒳", "x")}@example.com`));
    }
    const byKey = (one: string, other: string) =>
      Buffer.compare(Buffer.from(usernameKey(one)), Buffer.from(usernameKey(other)));
    const matching = (text: string, among = users) =>
      among
        .filter(({ username, displayName, email }) =>
          [username, displayName, email].some((one) => searchKey(one).startsWith(searchKey(text))),
        )
        .map(({ username }) => username)
        .sort(byKey);
    for (const text of [
      "",
      "a",
      "AN",
      "bo",
      "e\u0301",
      "él",
      "ze\u0301",
      "𝒳",
      "9",
      "q",
      "%",
      "_",
    ]) {
      for (const limit of [1, 7, 1000]) {
        expect(await all(it, text, limit), text).toEqual(matching(text));
      }
      const some = users.filter((_, index) => index % 3 === 0);
      const ids = [...some.map(({ id }) => id), "nobody", "\0"];
      const among = await pages((after) => it.search.among(ids, { text, after, limit: 4 }));
      expect(among, text).toEqual(matching(text, some));
    }
  });

  test("many matches are looked through, a bounded number of users for each page", async () => {
    const it = await begin();
    const text =
      it.database.kind === "sqlite" ? sql`printf('%05d', n)` : sql`lpad(n::text, 5, '0')`;
    // Every eighth one has a display name that begins with x: more than are sorted.
    await sql`insert into iam_users (id, username, username_key, display_name, display_key, email, email_key,
        avatar_url, password_version, disabled, etag, create_time, update_time)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 12000)
      select ${text}, ${text}, ${text}, '', case when n % 8 = 0 then 'xy' || n else 'other' end, '', '', '', 0, 0, '', 0, 0
      from numbers`.execute(it.database.kysely);
    const first = await it.search.search({ text: "X", after: "", limit: 1000 });
    expect(first.users.length).toBe(625);
    expect(first.next).toBe("05000");
    expect(await all(it, "x", 400)).toHaveLength(1500);
    // Few are found at once, wherever they are.
    const few = await it.search.search({ text: "xy11992", after: "", limit: 10 });
    expect(few).toMatchObject({ users: [{ id: "11992" }], next: undefined });
    expect(await it.search.search({ text: "nobody", after: "", limit: 10 })).toEqual({
      users: [],
      next: undefined,
    });
  });

  test("a user is found by the new names, and a deleted one not at all", async () => {
    const it = await begin();
    const { id } = await it.add("ann", "Ann", "ann@example.com");
    await it.accounts.changeProfile(id, { displayName: "Zora" }, undefined);
    expect(await all(it, "zo")).toEqual(["ann"]);
    const marked = { deleted_time: 1, username_key: `deleted:${id}` };
    await it.database.kysely.updateTable("iam_users").set(marked).where("id", "=", id).execute();
    for (const text of ["", "a", "zo", "deleted", "ann@"]) expect(await all(it, text)).toEqual([]);
    expect(await it.search.among([id], { text: "", after: "", limit: 5 })).toMatchObject({
      users: [],
    });
  });

  test("what the database cannot hold is found in nobody", async () => {
    const it = await begin();
    await it.add("ann", "Ann", "ann@example.com");
    for (const text of ["\0", "a\0", "\ud800"]) expect(await all(it, text)).toEqual([]);
  });

  test("users of before the migration are found", async () => {
    const it = await begin();
    await it.add("ann", "Ann", "ann@example.com");
    const { kysely } = it.database;
    for (const column of ["display_key", "email_key"]) {
      await kysely.schema.dropIndex(`iam_users_${column}`).execute();
      await kysely.schema.alterTable("iam_users").dropColumn(column).execute();
    }
    await addUserSearchKeys(kysely, it.database.columnTypes);
    const keys = await kysely
      .selectFrom("iam_users")
      .select(["display_key", "email_key"])
      .execute();
    expect(keys).toEqual([{ display_key: "ann", email_key: "ann@example.com" }]);
  });
});
