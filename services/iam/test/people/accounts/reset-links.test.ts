/** The links by which new passwords are set, in the database. */
import { randomUUID } from "node:crypto";
import type { ServiceDatabase } from "svc-access/database";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { PasswordTables } from "../../../src/ground/store/password-tables.ts";
import { RESET_LINK_LIFE_MS, ResetLinks } from "../../../src/people/accounts/reset-links.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { ROOT } from "../../support/passwords.ts";

const START = 1_800_000_000_000;
const UNKNOWN = { reason: "unknown", accountId: undefined };

afterEach(() => vi.useRealTimers());

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("links in %s", async (kind, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin() {
    const clock = { now: START };
    const { open } = await create();
    const databases = [1, 2].map(() => open().as<PasswordTables>());
    const [first, second] = databases as [
      ServiceDatabase<PasswordTables>,
      ServiceDatabase<PasswordTables>,
    ];
    const linksOf = (database: ServiceDatabase<PasswordTables>) =>
      new ResetLinks(database, () => clock.now);
    return { clock, first, second, links: linksOf(first), others: linksOf(second) };
  }

  const rows = ({ kysely }: ServiceDatabase<PasswordTables>) =>
    kysely.selectFrom("iam_password_reset_links").selectAll().execute();
  /** Uses a link in a transaction, as a new password does. */
  async function use(database: ServiceDatabase<PasswordTables>, links: ResetLinks, token: string) {
    const link = await links.find(token);
    if ("reason" in link) return link.reason;
    return database.inTransaction((tx) => links.use(link, tx));
  }

  test.each<[string, (token: string) => string]>([
    ["no token", () => ""],
    ["another token", () => "A".repeat(43)],
    ["a token that was cut", (token) => token.slice(0, -1)],
    ["a longer token", (token) => `${token}A`],
    ["a token in another case", (token) => token.toUpperCase().replace(/^./, "_")],
    ["SQL", (token) => `${token}' or '1'='1`],
    ["NUL", (token) => `${token}\u0000`],
    ["a very long text", () => "A".repeat(100_000)],
  ])("%s is not the token of a link", async (_, change) => {
    const { links } = await begin();
    const { token } = await links.make("alice", ROOT);
    expect(await links.find(change(token))).toEqual(UNKNOWN);
  });

  test("the database has the hash of a token only [IDP-29]", async () => {
    const { links, first } = await begin();
    const { token, expireTime } = await links.make("alice", ROOT);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(expireTime).toBe(START + RESET_LINK_LIFE_MS);
    const [row] = await rows(first);
    expect(JSON.stringify(row)).not.toContain(token);
    expect(row).toMatchObject({ account_id: "alice", used_time: null });
    // The hash is not a token.
    expect(await links.find(row?.token_hash ?? "")).toEqual(UNKNOWN);
  });

  test("a new link replaces the former one, also at another replica [IDP-29]", async () => {
    const { links, others, first } = await begin();
    const { token: old } = await links.make("alice", ROOT);
    const { token: bob } = await links.make("bob", ROOT);
    const { token } = await others.make("alice", ROOT);
    expect(await links.find(old)).toEqual(UNKNOWN);
    expect(await links.find(token)).toMatchObject({ accountId: "alice" });
    expect(await links.find(bob)).toMatchObject({ accountId: "bob" });
    // Of many that are made at once, one remains.
    const made = await Promise.all(
      [links, others, links, others].map((one) => one.make("alice", ROOT)),
    );
    const open = await Promise.all(made.map((one) => links.find(one.token)));
    expect(open.filter((link) => !("reason" in link))).toHaveLength(1);
    expect(await rows(first)).toHaveLength(2);
  });

  test("a link works for an hour [IDP-29]", async () => {
    const { links, clock, first } = await begin();
    const { token } = await links.make("alice", ROOT);
    clock.now += RESET_LINK_LIFE_MS - 1;
    const link = await links.find(token);
    if ("reason" in link) return expect.fail(link.reason);
    clock.now += 1;
    expect(await links.find(token)).toEqual({ reason: "expired", accountId: "alice" });
    // A form that was opened before.
    expect(await first.inTransaction((tx) => links.use(link, tx))).toBe(false);
    await links.removeExpired();
    expect(await rows(first)).toHaveLength(1);
    clock.now += 86_400_001;
    await links.removeExpired();
    expect(await rows(first)).toEqual([]);
  });

  test.runIf(kind === "PostgreSQL")(
    "the clock of the database says when, and not that of the process [IDP-29]",
    async () => {
      const { first } = await begin();
      const links = new ResetLinks(first);
      const real = Date.now();
      vi.useFakeTimers({ toFake: ["Date"], now: real - 2 * RESET_LINK_LIFE_MS });
      const { token, expireTime } = await links.make("alice", ROOT);
      expect(Math.abs(expireTime - real - RESET_LINK_LIFE_MS)).toBeLessThan(60_000);
      vi.setSystemTime(real + 2 * RESET_LINK_LIFE_MS);
      expect(await links.find(token)).toMatchObject({ accountId: "alice" });
      expect(await use(first, links, token)).toBe(true);
    },
  );

  test("a link works once, also if replicas get it at the same moment [IDP-29]", async () => {
    const { links, others, first, second } = await begin();
    for (let round = 0; round < 5; round++) {
      const { token } = await links.make(randomUUID(), ROOT);
      const used = await Promise.all([
        use(first, links, token),
        use(second, others, token),
        use(first, links, token),
        use(second, others, token),
      ]);
      expect(used.filter((one) => one === true)).toHaveLength(1);
      expect(await use(second, others, token)).toBe("used");
    }
  });

  test("a use that is rolled back is none", async () => {
    const { links, first } = await begin();
    const { token } = await links.make("alice", ROOT);
    const link = await links.find(token);
    if ("reason" in link) return expect.fail(link.reason);
    const failure = new Error("the password was not stored");
    await expect(
      first.inTransaction(async (tx) => {
        await links.use(link, tx);
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await use(first, links, token)).toBe(true);
  });

  test("a link has its maker, and a new one the newer maker [IDP-29]", async () => {
    const { links, first } = await begin();
    const manager = { subjectType: "user", subjectId: "manager" };
    await links.make("alice", ROOT);
    const { token } = await links.make("alice", manager);
    expect(await links.find(token)).toMatchObject({ maker: manager });
    // Made before the makers were stored.
    for (const column of ["maker_type", "maker_id"] as const) {
      const made = await links.make("alice", ROOT);
      await first.kysely
        .updateTable("iam_password_reset_links")
        .set({ [column]: null })
        .execute();
      expect(await links.find(made.token)).toMatchObject({ accountId: "alice", maker: undefined });
    }
  });

  test("a changed password ends the link", async () => {
    const { links, first } = await begin();
    const { token } = await links.make("alice", ROOT);
    await first.inTransaction((tx) => links.end("alice", tx));
    expect(await links.find(token)).toEqual(UNKNOWN);
  });
});
