/** New passwords, set by several replicas at the same moment. */
import { testContext } from "svc-access/testing";
import { describe, expect, test } from "vitest";
import { PasswordChanges } from "../../../src/api/password/password-changes.ts";
import { WorkQueue } from "../../../src/ground/queue/work-queue.ts";
import type { PasswordTables } from "../../../src/ground/store/password-tables.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { PasswordLogin } from "../../../src/people/accounts/password-login.ts";
import { PasswordHasher } from "../../../src/people/accounts/passwords/password-hasher.ts";
import { type ResetLink, ResetLinks } from "../../../src/people/accounts/reset-links.ts";
import { LoginThrottle } from "../../../src/people/accounts/throttle/login-throttle.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { Sessions } from "../../../src/people/sessions/sessions.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { CHEAP } from "../../support/hash-cost.ts";
import { NEW, OLD, ROOT } from "../../support/passwords.ts";

const call = testContext({ user: "alice" });

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin(queue?: WorkQueue) {
    const { open } = await create();
    const rights = { remain: true };
    const replica = () => {
      const database = open();
      const provider = new ProviderDatabase(database);
      const { kysely } = database.as<UserTables>();
      const accounts = new LocalAccounts(kysely, "acme");
      const hasher = new PasswordHasher(CHEAP, queue);
      const logins = new PasswordLogin({ accounts, hasher, throttle: new LoginThrottle(kysely) });
      const sessions = new Sessions(provider, new Revocations(provider));
      const links = new ResetLinks(database.as<PasswordTables>());
      const changes = new PasswordChanges({
        accounts,
        logins,
        hasher,
        links,
        rights: { mayReset: async () => rights.remain },
        sessions: {
          endWith: (id, change, _, except) => sessions.endWith(id, change, except),
        },
      });
      return { accounts, logins, links, changes, kysely };
    };
    const [first, second] = [replica(), replica()];
    const user = { username: "alice", displayName: "Alice", email: "alice@example.com" };
    const passwordHash = await new PasswordHasher(CHEAP).hash(OLD);
    const { id } = (await first.accounts.create({ ...user, passwordHash })) ?? expect.fail();
    const linkOf = async (at = first): Promise<ResetLink> => {
      const link = await at.links.find((await at.links.make(id, ROOT)).token);
      return "reason" in link ? expect.fail(link.reason) : link;
    };
    const canLogIn = async (password: string) => {
      const attempt = { username: "alice", password, address: "203.0.113.7" };
      const { signal } = new AbortController();
      return (
        (
          await second.logins.authenticate({
            ...attempt,
            signal,
            deadline: Number.MAX_SAFE_INTEGER,
          })
        ).outcome === "ok"
      );
    };
    return { first, second, id, rights, linkOf, canLogIn };
  }

  const own = (current: string, next: string) =>
    ({ username: "alice", current, next, session: undefined }) as const;

  test("of several uses of a link at two replicas, one sets the password [IDP-29]", async () => {
    const { first, second, linkOf, canLogIn } = await begin();
    for (let round = 0; round < 4; round++) {
      const link = await linkOf();
      const passwords = [1, 2, 3, 4].map((number) => `${NEW} ${round} ${number}`);
      const results = await Promise.all(
        passwords.map((password, index) =>
          [first, second][index % 2]?.changes.reset(link, password, call),
        ),
      );
      const outcomes = results.map((result) => result?.outcome);
      expect(outcomes.toSorted()).toEqual(["dead", "dead", "dead", "reset"]);
      expect(await canLogIn(passwords[outcomes.indexOf("reset")] ?? "")).toBe(true);
    }
  });

  test("of a change and a reset at the same moment, the last one counts [IDP-28]", async () => {
    const { first, second, id, linkOf, canLogIn } = await begin();
    let current = OLD;
    for (let round = 0; round < 4; round++) {
      const [changed, reset] = [`${NEW} changed ${round}`, `${NEW} reset ${round}`];
      const link = await linkOf();
      const [change, use] = await Promise.all([
        first.changes.change(id, own(current, changed), call),
        second.changes.reset(link, reset, call),
      ]);
      // Whichever is first refuses the other: a change ends the link, and a reset the current password.
      expect(["changed dead", "outdated reset", "wrong reset"]).toContain(
        `${change.outcome} ${use.outcome}`,
      );
      current = use.outcome === "reset" ? reset : changed;
      expect(await canLogIn(current)).toBe(true);
    }
  });

  test("a password that may not be set does not use the link", async () => {
    const { first, id, linkOf } = await begin();
    const link = await linkOf();
    expect(await first.changes.reset(link, "password1234", call)).toMatchObject({
      outcome: "invalid",
    });
    expect(await first.changes.reset(link, NEW, call)).toMatchObject({ outcome: "reset" });
    const again = await first.changes.reset(link, NEW, call);
    expect(again).toEqual({ outcome: "dead", reason: "used" });
    expect((await first.accounts.findForLogin("alice"))?.passwordVersion).toBe(1);
    expect((await first.accounts.find(id))?.username).toBe("alice");
  });

  test("rights that the maker of a link has lost are not used, and the link is not either [IDP-29]", async () => {
    const { first, rights, linkOf, canLogIn } = await begin();
    const link = await linkOf();
    rights.remain = false;
    const dead = { outcome: "dead", reason: "rights" };
    expect(await first.changes.reset(link, NEW, call)).toEqual(dead);
    expect(await canLogIn(OLD)).toBe(true);
    rights.remain = true;
    expect(await first.changes.reset(link, NEW, call)).toMatchObject({ outcome: "reset" });
  });

  test("a user who is disabled or deleted gets no password", async () => {
    const { first, id, linkOf, canLogIn } = await begin();
    const users = () => first.kysely.updateTable("iam_users").where("id", "=", id);
    const link = await linkOf();
    const dead = { outcome: "dead", reason: "disabled" };
    await users().set({ disabled: 1 }).execute();
    expect(await first.changes.reset(link, NEW, call)).toEqual(dead);
    expect(await first.changes.change(id, own(OLD, NEW), call)).toEqual({ outcome: "wrong" });
    await users().set({ disabled: 0, deleted_time: 1 }).execute();
    expect(await first.changes.reset(link, NEW, call)).toEqual(dead);
    await users().set({ deleted_time: null }).execute();
    expect(await canLogIn(OLD)).toBe(true);
  });

  test("a user name that belongs to somebody else by now is not the caller's", async () => {
    const { first, canLogIn } = await begin();
    expect(await first.changes.change("bob", own(OLD, NEW), call)).toEqual({ outcome: "wrong" });
    expect(await canLogIn(OLD)).toBe(true);
  });

  test("when too many passwords are hashed, nothing is changed", async () => {
    const { first, id, linkOf } = await begin(new WorkQueue(0, 0));
    const link = await linkOf();
    expect(await first.changes.change(id, own(OLD, NEW), call)).toEqual({ outcome: "busy" });
    await expect(first.changes.reset(link, NEW, call)).rejects.toThrow("too many are waiting");
    expect((await first.accounts.findForLogin("alice"))?.passwordVersion).toBe(0);
    expect(await linkOf()).toMatchObject({ accountId: id });
  });
});
