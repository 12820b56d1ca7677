/** Two replicas of svc-iam in processes of their own, over a real PostgreSQL and a real SpiceDB. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createGrpcClient } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { IS_THOROUGH, runs } from "../../../../test/support/effort.ts";
import { PATIENCE } from "../../../../test/support/patience.ts";
import { until } from "../../../../test/support/until.ts";
import { IAMRevocationService } from "../../gen/svc/iam/v1/revocation_pb.ts";
import { Browser } from "../support/browser.ts";
import { asUser, INTERNAL_TOKEN } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { testBrowserLogins } from "./browser-login.ts";
import { startFollowingService } from "./following-service.ts";
import { me, refreshAt, send, underLoad } from "./load.ts";
import { onPlatform, PASSWORD, startPlatform } from "./platform.ts";
import type { Replica } from "./replica.ts";
import { AUDIENCE, testServiceAccounts } from "./service-accounts.ts";

const HOUR = 3_600_000;
/** For tests that start replicas many times, each of which may take long on a busy machine. */
const MANY_STARTS = 6 * PATIENCE;

const platform = await startPlatform({
  iam: { browser_login: "self" },
  oidc: { audience: AUDIENCE },
});
afterAll(() => platform?.stop());

onPlatform("two replicas [PLAT-9]", platform, (platform) => {
  const { replicas, addUser } = platform;
  const [first, second] = replicas;
  const ports = replicas.map(({ port }) => port);
  const logIn = (username: string) => logInAt(platform, username, PASSWORD);
  /** Ends the session of a token by that token. */
  async function endSession(at: Replica, tokens: LoggedIn): Promise<void> {
    const path = "/v1/iam/me/sessions";
    const { body } = await at.call("GET", path, undefined, withToken(tokens));
    const { id } = body.sessions.find((one: { current?: boolean }) => one.current);
    const { status } = await at.call("DELETE", `${path}/${id}`, undefined, withToken(tokens));
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    for (const username of ["alice", "bob"]) await addUser(username);
  });

  test("a login at one holds at the other [IDP-24]", async () => {
    await send(platform, first.port);
    const tokens = await logIn("alice").finally(() => send(platform, ...ports));
    expect(await me(second, tokens)).toBe(200);
    const { status, body } = await refreshAt(second, tokens);
    expect(status).toBe(200);
    expect(await me(first, body.tokens)).toBe(200);
  });

  test("the end of a session at one ends its tokens at the other, which notifies its watchers [IDP-22]", async () => {
    const [gone, own] = [await logIn("bob"), await logIn("bob")];
    const { body } = await first.call("GET", "/v1/iam/me/sessions", undefined, withToken(gone));
    const { id } = body.sessions.find((one: { current?: boolean }) => one.current);
    const client = createGrpcClient(IAMRevocationService, {
      target: `127.0.0.1:${second.grpcPort}`,
      internalToken: INTERNAL_TOKEN,
    });
    const watch = client.watchRevocations({})[Symbol.asyncIterator]();
    await watch.next();
    const told = (async () => {
      for (;;) {
        const { value } = await watch.next();
        if (value.revocations.length > 0) return;
      }
    })();
    expect(await me(second, gone)).toBe(200);
    const path = `/v1/iam/me/sessions/${id}`;
    expect((await first.call("DELETE", path, undefined, withToken(own))).status).toBe(200);
    // In the database at once.
    expect((await refreshAt(second, gone)).status).toBe(400);
    await until("the access token is refused", async () => (await me(second, gone)) === 401);
    await told;
    expect(await me(second, own)).toBe(200);
    await watch.return?.();
    await client.close();
  });

  test("of the uses of a link at both at once one sets the password, and ends the sessions at both [IDP-29]", async () => {
    const id = await addUser("carol");
    const tokens = await logIn("carol");
    expect(await me(second, tokens)).toBe(200);
    const path = `/v1/users/${id}/password-reset-links`;
    const owner = await addUser("owner");
    await platform.makeOwner(owner);
    // The owner was written to SpiceDB by another client, whose writes checks need not see at once.
    let url = "";
    await until("the owner may make a link", async () => {
      const { body } = await first.call("POST", path, {}, asUser(owner));
      url = body.url ?? "";
      return url !== "";
    });
    const { pathname, search } = new URL(url);
    const forms = await Promise.all(
      [...replicas, ...replicas].map(async ({ port }, index) => {
        const origin = `http://localhost:${port}`;
        const browser = new Browser(origin);
        const page = await browser.open(`${origin}${pathname}${search}`);
        return { browser, page, password: `${PASSWORD} ${index}` };
      }),
    );
    const sent = await Promise.all(
      forms.map(async ({ browser, page, password }) => ({
        password,
        status: (await browser.submit(page, { password, repeated: password })).status,
      })),
    );
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    for (const replica of replicas) {
      expect((await refreshAt(replica, tokens)).status).toBe(400);
      await until("the access token is refused", async () => (await me(replica, tokens)) === 401);
    }
    const { password = "" } = sent.find(({ status }) => status === 200) ?? {};
    expect(await me(second, await logInAt(platform, "carol", password))).toBe(200);
    await expect(logIn("carol")).rejects.toThrow("401");
  });

  /** Restarts the replicas one after the other, as a rollout does; each is killed. */
  async function restartEach(more: (count: number) => Promise<void>): Promise<void> {
    for (const replica of replicas) {
      await replica.kill();
      await more(5);
      await replica.start();
    }
  }

  test.each([
    ["disabled", "POST", ":disable", {}],
    ["deleted", "DELETE", "", undefined],
  ] as const)(
    "a user who is %s at one is logged out at the other, and cannot log in there [IAM-16]",
    async (verb, method, end, body) => {
      const username = `${verb}-user`;
      const id = await addUser(username);
      const administrator = await addUser(`${verb}-administrator`);
      await platform.makeOwner(administrator);
      const tokens = await logIn(username);
      expect(await me(second, tokens)).toBe(200);
      const path = `/v1/users/${id}`;
      const call = (at: Replica, by: string) => at.call(method, `${path}${end}`, body, asUser(by));
      // SpiceDB may answer from a state of some seconds ago.
      for (const replica of replicas) {
        await until("the owner may see the user", async () => {
          const { status } = await replica.call("GET", path, undefined, asUser(administrator));
          return status === 200;
        });
      }
      expect((await call(first, administrator)).status).toBe(200);
      expect((await refreshAt(second, tokens)).status).toBe(400);
      await until("the access token is refused", async () => (await me(second, tokens)) === 401);
      // Whom a gateway still names, and what is in the database at once.
      expect((await second.call("GET", "/v1/iam/me", undefined, asUser(id))).status).toBe(401);
      await send(platform, second.port);
      await expect(logIn(username).finally(() => send(platform, ...ports))).rejects.toThrow(
        "failed",
      );
      const found = await second.call("GET", path, undefined, asUser(administrator));
      expect(found.status).toBe(verb === "deleted" ? 404 : 200);
    },
  );

  test(
    "a replica that is killed under load logs nobody out, and what was acknowledged is there [PLAT-14]",
    () =>
      underLoad(platform, async ({ more }) => {
        for (let kill = 0; kill < runs(12, 1); kill++) {
          const victim = replicas[kill % 2] as Replica;
          await victim.kill();
          await more(20);
          await victim.start();
          await more(20);
        }
      }),
    MANY_STARTS,
  );

  test.runIf(IS_THOROUGH)(
    "the encryption key is replaced under load, and nobody is logged out",
    () =>
      underLoad(platform, async ({ more }) => {
        const { keyFile } = platform;
        const old = readFileSync(keyFile, "utf8");
        const fresh = `${randomBytes(32).toString("base64")}\n`;
        for (const keys of [old + fresh, fresh + old]) {
          writeFileSync(keyFile, keys);
          await restartEach(more);
        }
        const { status, stdout } = await first.run("rewrap");
        expect([status, stdout]).toEqual([0, expect.stringContaining("values are now encrypted")]);
        writeFileSync(keyFile, fresh);
        await restartEach(more);
      }),
    MANY_STARTS,
  );

  test("a service that loses the replica that it follows refuses tokens, and accepts no ended one afterwards", async () => {
    const service = await startFollowingService(platform.origin, first);
    onTestFinished(() => service.stop());
    const [gone, stays] = [await logIn("alice"), await logIn("bob")];
    for (const tokens of [gone, stays]) {
      await until("it has the revocations", async () => (await me(service, tokens)) === 200);
    }
    await first.kill();
    await until("tokens are refused", async () => (await me(service, stays)) === 503);
    expect(await me(service, gone)).toBe(503);
    await endSession(second, gone);
    await first.start();
    await until("it serves again", async () => {
      expect([401, 503]).toContain(await me(service, gone));
      return (await me(service, stays)) === 200;
    });
    expect(await me(service, gone)).toBe(401);
  });

  test.runIf(IS_THOROUGH).each([
    ["ahead", HOUR],
    ["behind", -HOUR],
  ])(
    "a replica whose clock jumps an hour %s accepts and issues no token, until the clock is right",
    async (_, offset) => {
      const [alice, gone] = [await logIn("alice"), await logIn("bob")];
      await second.shiftClock(offset);
      expect(await me(second, alice)).not.toBe(200);
      expect((await refreshAt(second, alice)).status).toBe(503);
      await until("it is not ready", async () => {
        const { status, body } = await second.call("GET", "/readyz");
        return status === 503 && JSON.stringify(body).includes("3600 s");
      });
      // What is ended meanwhile stays so.
      await endSession(first, gone);
      await second.shiftClock(0);
      await until("the ended token is refused", async () => (await me(second, gone)) === 401);
      await until("it is ready", async () => (await second.call("GET", "/readyz")).status === 200);
      expect(await me(second, gone)).toBe(401);
      expect(await me(second, alice)).toBe(200);
      expect((await refreshAt(second, alice)).status).toBe(200);
      expect(await me(first, alice)).toBe(200);
    },
  );

  describe("with browser_login: self", () => testBrowserLogins(platform));
  describe("with service accounts", () => testServiceAccounts(platform));
});
