import { beforeEach, describe, expect, test } from "vitest";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { UserPages } from "../../../src/people/accounts/user-pages.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const START = 1_800_000_000_000;
const ALICE = {
  username: "Alice",
  displayName: "Alice Baker",
  email: "alice@example.com",
  passwordHash: "$argon2id$…",
};

const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

describe.each(databases)("on %s", (_, newDatabase) => {
  let now = START;
  let accounts: LocalAccounts;
  let pages: UserPages;
  beforeEach(async () => {
    now = START;
    const database = (await newDatabase()).open().as<UserTables>();
    accounts = new LocalAccounts(database.kysely, "acme", () => now);
    pages = new UserPages(database, "acme");
  });

  test("an account is found by its id, and by its user name in any letter case", async () => {
    const created = await accounts.create(ALICE);
    expect(created).toMatchObject({
      subjectType: "user",
      username: "Alice",
      displayName: "Alice Baker",
      email: "alice@example.com",
      organizationId: "acme",
      avatarUrl: "",
      disabled: false,
      createTime: START,
      updateTime: START,
    });
    expect(await accounts.find(created?.id ?? "")).toEqual(created);
    expect(await accounts.findForLogin("alice")).toEqual({
      account: created,
      passwordHash: ALICE.passwordHash,
      passwordVersion: 0,
    });
    expect(await accounts.find("another")).toBeUndefined();
    expect(await accounts.findForLogin("bob")).toBeUndefined();
  });

  test("several accounts are found by their ids; there is none for other ids", async () => {
    const alice = await accounts.create(ALICE);
    const bob = await accounts.create({ ...ALICE, username: "bob" });
    const ids = [alice?.id ?? "", "another", bob?.id ?? "", "' or 1=1 --"];
    const found = await accounts.findAll(ids);
    expect(found.size).toBe(2);
    expect(found.get(alice?.id ?? "")).toEqual(alice);
    expect(found.get(bob?.id ?? "")).toEqual(bob);
    expect(await accounts.findAll(["another"])).toEqual(new Map());
  });

  test("a user name is taken in all letter cases, also by two at once", async () => {
    const both = await Promise.all([
      accounts.create(ALICE),
      accounts.create({ ...ALICE, username: "ALICE" }),
    ]);
    expect(both.filter((account) => account !== undefined)).toHaveLength(1);
    expect(await pages.list("", 10)).toHaveLength(1);
  });

  test("accounts are listed by user name, a page at a time", async () => {
    for (const username of ["dora", "Bob", "alice", "carol"]) {
      await accounts.create({ ...ALICE, username });
    }
    const names = async (after: string, limit: number) =>
      (await pages.list(after, limit)).map(({ username }) => username);
    expect(await names("", 3)).toEqual(["alice", "Bob", "carol"]);
    expect(await names("carol", 3)).toEqual(["dora"]);
    expect(await names("dora", 3)).toEqual([]);
  });

  test("a profile is changed only if it has the etag that was read", async () => {
    const created = await accounts.create(ALICE);
    const id = created?.id ?? "";
    now += 1000;
    const changed = await accounts.changeProfile(id, { displayName: "A" }, created?.etag);
    expect(changed).toMatchObject({ displayName: "A", avatarUrl: "", updateTime: now });
    expect(changed?.etag).not.toBe(created?.etag);
    expect(await accounts.changeProfile(id, { displayName: "B" }, created?.etag)).toBeUndefined();
    expect(
      await accounts.changeProfile(id, { avatarUrl: "https://a.b/c" }, undefined),
    ).toMatchObject({ displayName: "A", avatarUrl: "https://a.b/c" });
    expect(
      await accounts.changeProfile("another", { displayName: "C" }, undefined),
    ).toBeUndefined();
  });

  test("a hash is not replaced where the password was changed meanwhile", async () => {
    const id = (await accounts.create(ALICE))?.id ?? "";
    await accounts.replaceHash(id, "another", "new");
    expect((await accounts.findForLogin("alice"))?.passwordHash).toBe(ALICE.passwordHash);
    await accounts.replaceHash(id, ALICE.passwordHash, "new");
    expect((await accounts.findForLogin("alice"))?.passwordHash).toBe("new");
  });
});
