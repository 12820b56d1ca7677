import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { MissingKeyError, SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { BrowserSessions } from "../../../src/login/browser/browser-sessions.ts";
import { postgres, sqlite } from "../../support/databases.ts";

const MINUTE = 60_000;
const TIMES = { idleMs: 60 * MINUTE, absoluteMs: 180 * MINUTE };
const ALICE = { subjectType: "user", subjectId: "alice" };
const TOKENS = { accessToken: "secret 1", refreshToken: "secret 2", idToken: "secret 3" };
const LATER = { accessToken: "secret 4", refreshToken: "secret 5", idToken: "secret 3" };

const postgresDatabase = await postgres();
const kinds = [
  { kind: "SQLite", database: sqlite },
  ...(postgresDatabase === undefined ? [] : [{ kind: "PostgreSQL", database: postgresDatabase }]),
];

describe.each(kinds)("browser sessions in $kind", ({ database }) => {
  /** Replicas that share a database and a clock. */
  async function replicas() {
    let now = Date.parse("2026-05-05T12:00:00Z");
    const opened = await database();
    const box = new SecretBox(EncryptionKeys.parse(randomBytes(32).toString("base64")));
    const replica = (own = box) => new BrowserSessions(opened.open().as(), own, TIMES, () => now);
    const one = replica();
    const begin = async (state = "state") => {
      const login = { state, subject: ALICE, tokens: TOKENS, refreshTime: now + MINUTE };
      return (await one.begin(login))?.token ?? "";
    };
    const wait = (ms: number) => {
      now += ms;
    };
    return { one, other: replica(), replica, begin, wait, database: opened.open() };
  }

  test("ends if it is not used, and is prolonged by its use", async () => {
    const { one, other, begin, wait } = await replicas();
    const token = await begin();
    wait(TIMES.idleMs - 1);
    expect(await other.use(token)).toMatchObject({ ...ALICE, tokens: TOKENS });
    wait(TIMES.idleMs - 1);
    expect(await one.use(token)).toBeDefined();
    wait(TIMES.idleMs);
    expect(await one.use(token)).toBeUndefined();
    expect(await other.find(idOf(token))).toBeUndefined();
  });

  test("ends in the end, however often it is used", async () => {
    const { one, begin, wait } = await replicas();
    const token = await begin();
    for (let minutes = 0; minutes < 180; minutes += 20) {
      expect(await one.use(token)).toBeDefined();
      wait(20 * MINUTE);
    }
    expect(await one.use(token)).toBeUndefined();
  });

  test("ends at all replicas at once", async () => {
    const { one, other, begin } = await replicas();
    const token = await begin();
    expect(await other.endOf(token)).toMatchObject(ALICE);
    expect(await one.use(token)).toBeUndefined();
    expect(await one.endOf(token)).toBeUndefined();
  });

  test("is neither read nor ended by a replica that lacks its key, and is replaced by another login", async () => {
    const { one, replica, begin } = await replicas();
    const keys = EncryptionKeys.parse(randomBytes(32).toString("base64"));
    const lacking = replica(new SecretBox(keys));
    const token = await begin();
    // Each begins after the one before has failed: a rejection that nobody awaits yet ends the run.
    const refused = [
      () => lacking.use(token),
      () => lacking.endOf(token),
      () => lacking.end(idOf(token)),
    ];
    for (const call of refused) await expect(call()).rejects.toThrow(MissingKeyError);
    expect(await one.use(token)).toMatchObject(ALICE);
    await lacking.remove(token);
    expect(await one.use(token)).toBeUndefined();
  });

  test("begins once for a login", async () => {
    const { begin } = await replicas();
    const begun = await Promise.all([begin(), begin()]);
    expect(begun.filter((token) => token !== "")).toHaveLength(1);
  });

  test("is stored without its token, with its tokens sealed and bound to it", async () => {
    const { one, begin, database: opened } = await replicas();
    const [first, second] = [await begin("1"), await begin("2")];
    const rows = await opened.kysely
      .selectFrom("iam_browser_sessions" as never)
      .selectAll()
      .execute();
    const stored = JSON.stringify(rows);
    for (const text of [first, second, "secret"]) expect(stored).not.toContain(text);
    const sealed = (rows as { id: string; tokens: string }[]).find(({ id }) => id === idOf(first));
    await (opened.kysely as any)
      .updateTable("iam_browser_sessions")
      .set({ tokens: sealed?.tokens })
      .where("id", "=", idOf(second))
      .execute();
    await expect(one.use(second)).rejects.toThrow("was changed or moved");
    expect(await one.endOf(second)).toBeUndefined();
    expect(await one.use(second)).toBeUndefined();
  });

  test("is refreshed by one replica at a time, with the tokens that it has now", async () => {
    const { one, other, begin, wait } = await replicas();
    const token = await begin();
    const session = await one.use(token);
    if (session === undefined) throw new Error("there is no session");
    const { id } = session;
    const claims = await Promise.all([one.beginRefresh(session), other.beginRefresh(session)]);
    expect(claims.toSorted()).toEqual([false, true]);
    // It failed.
    expect(await one.endRefresh(id)).toBe(true);
    expect(await other.beginRefresh(session)).toBe(true);
    // The process has died.
    wait(10_000);
    expect(await one.beginRefresh(session)).toBe(true);
    const refreshTime = session.refreshTime + MINUTE;
    expect(await one.endRefresh(id, { tokens: LATER, refreshTime })).toBe(true);
    expect(await other.beginRefresh(session)).toBe(false);
    expect(await other.use(token)).toEqual({ ...session, tokens: LATER, refreshTime });
    await other.end(id);
    expect(await one.endRefresh(id, { tokens: TOKENS, refreshTime })).toBe(false);
    expect(await one.use(token)).toBeUndefined();
  });

  test("is deleted when it is over", async () => {
    const { one, begin, wait, database: opened } = await replicas();
    await begin("1");
    wait(TIMES.idleMs);
    await begin("2");
    await one.removeExpired();
    const rows = await opened.kysely
      .selectFrom("iam_browser_sessions" as never)
      .selectAll()
      .execute();
    expect(rows).toHaveLength(1);
  });
});

function idOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
