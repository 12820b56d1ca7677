/** A PostgreSQL database that is restored from a backup, step by step as docs/iam.md says. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { postgresPrograms, query } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import { Browser } from "../support/browser.ts";
import { logInBrowser, SESSION } from "../support/browser-login.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { startFollowingService } from "./following-service.ts";
import { me, refreshAt } from "./load.ts";
import { onPlatform, PASSWORD, startPlatform } from "./platform.ts";

/** How long docs/iam.md says that the replicas stay stopped. */
const STOPPED_MS = 7 * 60_000;
const CLOCK_SKEW_MS = 60_000;

const programs = postgresPrograms();
const hasDump = programs !== undefined;
// The test of the command restores a backup of SQLite.
const platform = IS_THOROUGH ? await startPlatform({ iam: { browser_login: "self" } }) : undefined;
afterAll(() => platform?.stop());

onPlatform("a restored database", hasDump ? platform : undefined, (platform) => {
  const { replicas, origin, databaseUrl, folder, addUser } = platform;
  const [first, second] = replicas;
  const dump = join(folder, "iam.dump");
  const logIn = (username: string) => logInAt(platform, username, PASSWORD);
  const run = (program: string, ...flags: readonly string[]) =>
    execFileSync(join(programs ?? "", program), flags, { stdio: ["ignore", "ignore", "pipe"] });
  const statuses = async (tokens: LoggedIn) => [
    await me(first, tokens),
    await me(second, tokens),
    (await refreshAt(first, tokens)).status,
    (await refreshAt(second, tokens)).status,
  ];

  beforeAll(() => addUser("alice"));

  test("has no login of before, and everybody logs in again [IDP-22]", async () => {
    const service = await startFollowingService(origin, first);
    onTestFinished(() => service.stop());
    const [kept, rotated, ended] = [
      await logIn("alice"),
      await logIn("alice"),
      await logIn("alice"),
    ];
    const browser = new Browser(origin);
    await logInBrowser({ origin }, browser);
    const cookie = `${SESSION}=${browser.cookie(SESSION)}`;
    await until("it has the revocations", async () => (await me(service as never, kept)) === 200);

    run("pg_dump", "--format=custom", "--schema=svc_access", `--file=${dump}`, databaseUrl);

    // What the backup does not have.
    const { body } = await refreshAt(first, rotated);
    const current: LoggedIn = body.tokens;
    await endSession(ended);
    await addUser("dave");
    const later = await logIn("dave");
    expect(await me(second, later)).toBe(200);
    expect((await refreshAt(second, ended)).status).toBe(400);

    // 1. Stop all replicas, and restore the database.
    for (const replica of replicas) await replica.kill();
    const stopped = Date.now();
    const restore = ["--clean", "--if-exists", "--single-transaction", "--exit-on-error"];
    run("pg_restore", ...restore, `--dbname=${databaseUrl}`, dump);
    // 2. End all sessions: those of four logins at the provider, and that of the browser.
    expect(await first.run("end-sessions")).toEqual({ status: 0, stdout: "sessions ended: 5\n" });
    // 3. Whatever the backup does not know has expired when the replicas start, even with the clock skew.
    for (const { accessToken } of [current, later]) {
      const { exp = Number.POSITIVE_INFINITY } = decodeJwt(accessToken);
      expect(exp * 1000 + CLOCK_SKEW_MS).toBeLessThanOrEqual(stopped + STOPPED_MS);
    }
    for (const replica of replicas) await replica.start();

    for (const tokens of [kept, rotated, ended]) {
      expect(await statuses(tokens)).toEqual([401, 401, 400, 400]);
    }
    // Refreshed after the backup: it has the session of the token before it.
    expect(await statuses(current)).toEqual([401, 401, 400, 400]);
    expect((await refreshAt(second, later)).status).toBe(400);
    for (const replica of replicas) {
      expect((await replica.call("GET", "/v1/iam/me", undefined, { cookie })).status).toBe(401);
    }
    await until("the service refuses them", async () => (await me(service as never, kept)) === 401);

    // The user that was made after the backup is gone; the others log in, with the keys of the backup.
    await expect(logIn("dave")).rejects.toThrow("the login failed");
    const again = await logIn("alice");
    expect([await me(first, again), await me(second, again)]).toEqual([200, 200]);
    expect((await refreshAt(second, again)).status).toBe(200);
    await until("the service follows", async () => (await me(service as never, again)) === 200);
    const audited = await auditTypes();
    expect(audited.filter((type) => type === "session.all_ended")).toHaveLength(1);
  });

  async function endSession(tokens: LoggedIn): Promise<void> {
    const path = "/v1/iam/me/sessions";
    const { body } = await first.call("GET", path, undefined, withToken(tokens));
    const { id } = body.sessions.find((one: { current?: boolean }) => one.current);
    const ended = await first.call("DELETE", `${path}/${id}`, undefined, withToken(tokens));
    expect(ended.status).toBe(200);
  }

  async function auditTypes(): Promise<unknown[]> {
    const rows = await query(databaseUrl, "select type from svc_access.audit_events");
    return rows.map(({ type }) => type);
  }
});
