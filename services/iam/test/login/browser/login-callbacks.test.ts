import { describe, expect, test } from "vitest";
import { LoginCallbacks } from "../../../src/login/browser/login-callbacks.ts";
import { postgres, sqlite } from "../../support/databases.ts";

const MINUTE = 60_000;
const postgresDatabase = await postgres();
const kinds = [
  { kind: "SQLite", database: sqlite },
  ...(postgresDatabase === undefined ? [] : [{ kind: "PostgreSQL", database: postgresDatabase }]),
];

describe.each(kinds)("the callbacks of logins in $kind", ({ database }) => {
  async function replicas() {
    let now = Date.parse("2026-05-05T12:00:00Z");
    const opened = await database();
    const replica = () => new LoginCallbacks(opened.open().as(), () => now);
    const login = { state: "a".repeat(43), expireTime: now + 10 * MINUTE };
    const wait = (ms: number) => {
      now += ms;
    };
    const { kysely } = opened.open();
    const rows = () =>
      kysely
        .selectFrom("iam_login_callbacks" as never)
        .selectAll()
        .execute();
    return { one: replica(), other: replica(), login, wait, rows };
  }

  test("count once, at whichever replica they come at once [IDP-18]", async () => {
    const { one, other, login } = await replicas();
    const came = await Promise.all([one, other, one, other].map((at) => at.isFirst(login)));
    expect(came.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await other.isFirst(login)).toBe(false);
    expect(await other.isFirst({ ...login, state: "b".repeat(43) })).toBe(true);
  });

  test("are stored as hashes, until their login has expired at each replica", async () => {
    const { one, other, login, wait, rows } = await replicas();
    await one.isFirst(login);
    expect(JSON.stringify(await rows())).not.toContain(login.state);
    wait(11 * MINUTE);
    await other.removeExpired();
    expect(await one.isFirst(login)).toBe(false);
    wait(MINUTE);
    await other.removeExpired();
    expect(await rows()).toEqual([]);
  });
});
