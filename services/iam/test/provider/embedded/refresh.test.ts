import { decodeJwt } from "jose";
import * as client from "openid-client";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import { CONSOLE, logIn, startProvider, stopAll } from "../../support/provider-server.ts";

afterAll(stopAll);

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("refresh with the database %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;
  afterEach(stopAll);

  async function begin() {
    const clock = { ahead: 0 };
    const iam = await startProvider({ at: await create(), now: () => Date.now() + clock.ahead });
    const configuration = await iam.configure(CONSOLE);
    const browser = new Browser(iam.origin);
    const tokens = await logIn(configuration, browser);
    const refresh = (token: string | undefined) =>
      client.refreshTokenGrant(configuration, token ?? "");
    return { clock, iam, configuration, browser, tokens, refresh };
  }

  test("of six refreshes at once all are good; one successor is used, and the others are dead [IDP-3]", async () => {
    const { tokens, refresh, iam } = await begin();
    const six = await Promise.all(Array.from({ length: 6 }, () => refresh(tokens.refresh_token)));
    const successors = six.map(({ refresh_token }) => refresh_token);
    expect(new Set(successors).size).toBe(6);
    for (const one of six) {
      expect(decodeJwt(one.access_token)).toMatchObject({
        sub: ALICE.id,
        sid: tokens.claims()?.["sid"],
      });
    }
    const next = await refresh(successors[2]);
    expect(next.refresh_token).toBeDefined();
    // The use of a dead one is one of a token that somebody else may have.
    await expect(refresh(successors[0])).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    expect(await iam.events("refresh_token.reused")).not.toEqual([]);
  });

  test("the successors of a successor continue", async () => {
    const { tokens, refresh, clock } = await begin();
    let token = tokens.refresh_token;
    for (let count = 0; count < 4; count++) {
      const next = await refresh(token);
      expect(next.refresh_token).not.toBe(token);
      token = next.refresh_token;
      clock.ahead += 60_000;
    }
  });

  test("a token that is used after the window ends its family and its access tokens, and is audited [IDP-3]", async () => {
    const { tokens, refresh, clock, iam, configuration } = await begin();
    const next = await refresh(tokens.refresh_token);
    expect(await client.tokenIntrospection(configuration, next.access_token)).toMatchObject({
      active: true,
    });
    clock.ahead += 10_001;
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    await expect(refresh(next.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    expect(await client.tokenIntrospection(configuration, next.access_token)).toEqual({
      active: false,
    });
    const [event, ...more] = await iam.events("refresh_token.reused");
    expect(more).toEqual([]);
    expect(event?.data).toMatchObject({
      risk_level: "HIGH",
      resource: `user:${ALICE.id}`,
      details: { client: CONSOLE.id },
    });
    expect(JSON.stringify(event)).not.toContain(tokens.refresh_token);
  });

  test("after its family has ended, a new login has another sid, which counts", async () => {
    const { tokens, refresh, clock, browser, configuration } = await begin();
    await refresh(tokens.refresh_token);
    clock.ahead += 10_001;
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    const again = await logIn(configuration, browser);
    expect(again.claims()?.["sid"]).not.toBe(tokens.claims()?.["sid"]);
    expect(await client.tokenIntrospection(configuration, again.access_token)).toMatchObject({
      active: true,
    });
    await refresh(again.refresh_token);
  });

  test("a login that is not used ends, one that is used continues until its absolute end [IDP-21]", async () => {
    const { tokens, refresh, clock, iam } = await begin();
    const DAY = 86_400_000;
    clock.ahead += 2 * DAY;
    const next = await refresh(tokens.refresh_token);
    const [session] = await iam.provider.sessions.list(ALICE.id);
    expect(session).toMatchObject({ kind: "browser", accountId: ALICE.id });
    clock.ahead += 4 * DAY;
    await expect(refresh(next.refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
    expect(await iam.provider.sessions.list(ALICE.id)).toEqual([]);
  });

  test("restarts and other replicas keep logins, tokens and keys", async () => {
    const { tokens, iam, configuration, browser } = await begin();
    const port = Number(new URL(iam.origin).port);
    await iam.stop();
    const again = await startProvider({ at: iam.database, port });
    expect(again.issuer).toBe(iam.issuer);
    expect(await client.tokenIntrospection(configuration, tokens.access_token)).toMatchObject({
      active: true,
    });
    const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
    expect(next.refresh_token).toBeDefined();
    const second = await logIn(configuration, browser);
    expect(second.claims()?.["sid"]).toBe(tokens.claims()?.["sid"]);
  });
});
