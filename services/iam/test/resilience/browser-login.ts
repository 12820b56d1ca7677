import { expect, test } from "vitest";
import { query } from "../../../../test/support/postgres.ts";
import { Browser } from "../support/browser.ts";
import { logInBrowser, SESSION, untilCallback } from "../support/browser-login.ts";
import { send } from "./load.ts";
import type { Platform } from "./platform.ts";
import type { Replica } from "./replica.ts";

/** Browsers that the replicas log in by themselves; the platform has `browser_login: self` and the user alice. */
export function testBrowserLogins(platform: Platform): void {
  const { replicas, origin, databaseUrl } = platform;
  const [first, second] = replicas;
  const sendTo = (...to: readonly Replica[]) => send(platform, ...to.map(({ port }) => port));
  const me = async (at: Replica, cookie: string) =>
    (await at.call("GET", "/v1/iam/me", undefined, { cookie })).status;
  const atBoth = (cookie: string) => Promise.all(replicas.map((at) => me(at, cookie)));
  const cookieOf = (browser: Browser) => `${SESSION}=${browser.cookie(SESSION)}`;

  test("share a login, and a logout at one ends it at both at once [IDP-24]", async () => {
    const browser = new Browser(origin);
    await sendTo(first);
    await logInBrowser({ origin }, browser);
    const cookie = cookieOf(browser);
    expect(await atBoth(cookie)).toEqual([200, 200]);
    await sendTo(second);
    const page = await browser.open(`${origin}/v1/iam/logout`);
    expect(page.text).toContain("alice");
    await sendTo(first);
    // The form was shown by the other one.
    const left = await browser.submit(page, {});
    expect(left.text).toContain("Logged out");
    expect(browser.cookie(SESSION)).toBeUndefined();
    expect(await atBoth(cookie)).toEqual([401, 401]);
    await sendTo(second);
    expect((await browser.open(`${origin}/v1/iam/ui/login`)).text).toContain('name="password"');
  });

  test("complete a login that began at the other one; of callbacks at both at once, one counts [IDP-18]", async () => {
    const browser = new Browser(origin);
    await sendTo(first);
    const callback = await untilCallback({ origin }, browser);
    const [pending = ""] = browser.names().filter((name) => name.startsWith("__Host-iam_pending_"));
    const cookie = `${pending}=${browser.cookie(pending)}`;
    const answers = await Promise.all(
      [...replicas, ...replicas].map(({ port }) =>
        fetch(`http://127.0.0.1:${port}${callback.pathname}${callback.search}`, {
          redirect: "manual",
          headers: { cookie },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400]);
    const lines = answers.flatMap(({ headers }) => headers.getSetCookie());
    const sessions = lines.filter((line) => line.startsWith(`${SESSION}=`));
    expect(sessions).toHaveLength(1);
    expect(await atBoth(sessions[0]?.split(";")[0] ?? "")).toEqual([200, 200]);
  });

  test("refresh the tokens of a session once, however many tabs call at both", async () => {
    const browser = new Browser(origin);
    await sendTo(first, second);
    await logInBrowser({ origin }, browser);
    const cookie = cookieOf(browser);
    const reuses = () =>
      query(
        databaseUrl,
        "select id from svc_access.audit_events where type = 'refresh_token.reused' order by id",
      );
    const before = await reuses();
    for (let round = 0; round < 3; round++) {
      await query(databaseUrl, "update svc_access.iam_browser_sessions set refresh_time = 1");
      const calls = await Promise.all([atBoth(cookie), atBoth(cookie), atBoth(cookie)]);
      expect(calls.flat()).toEqual([200, 200, 200, 200, 200, 200]);
    }
    expect(await reuses()).toEqual(before);
  });

  test("continue a login when the one that made it is killed", async () => {
    const browser = new Browser(origin);
    await sendTo(first);
    await logInBrowser({ origin }, browser);
    await first.kill();
    expect(await me(second, cookieOf(browser))).toBe(200);
    await first.start();
    expect(await atBoth(cookieOf(browser))).toEqual([200, 200]);
  });
}
