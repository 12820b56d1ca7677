import { EventEmitter, once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterEach, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import {
  basicOf,
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

afterEach(stopAll);

async function kidsOf(iam: RunningProvider): Promise<(string | undefined)[]> {
  const response = await fetch(`${iam.issuer}/jwks`);
  return ((await response.json()) as JSONWebKeySet).keys.map(({ kid }) => kid);
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;
function job(iam: RunningProvider, name: string) {
  const found = iam.provider.jobs().find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no job ${name}`);
  return found.run(new AbortController().signal);
}

test("keys rotate under load: no request fails, and no token is refused [IDP-13]", async () => {
  const keyTimes = { publishedMs: 0, signsMs: 30 * DAY, retiredMs: 31 * DAY };
  const iam = await startProvider({ keyTimes });
  const configuration = await iam.configure(CONSOLE);
  const first = await logIn(configuration, new Browser(iam.origin));
  // A verifier that has read the key set before.
  const response = await fetch(`${iam.issuer}/jwks`);
  const known = ((await response.json()) as JSONWebKeySet).keys.map(({ kid }) => kid);
  let isRunning = true;
  const seen = new Set<string | undefined>();
  const refreshed = new EventEmitter();
  const oneHasRefreshed = once(refreshed, "refresh");
  const load = Array.from({ length: 4 }, async () => {
    let token = (await logIn(configuration, new Browser(iam.origin))).refresh_token ?? "";
    let isRotated = false;
    while (isRunning || !isRotated) {
      isRotated = !isRunning;
      const next = await client.refreshTokenGrant(configuration, token);
      token = next.refresh_token ?? "";
      seen.add(kidOf(next.access_token));
      refreshed.emit("refresh");
      expect(known).toContain(kidOf(next.access_token));
      expect(await client.tokenIntrospection(configuration, next.access_token)).toMatchObject({
        active: true,
      });
    }
  });
  await Promise.race([oneHasRefreshed, ...load]);
  expect(await iam.provider.rotateSigningKey()).toMatchObject({
    outcome: "rotated",
    current: known[1],
    retired: known[0],
  });
  isRunning = false;
  await Promise.all(load);
  expect(seen).toEqual(new Set(known));
  // Signed by the retired key, and verified by whoever reads the keys now.
  const keys = createRemoteJWKSet(new URL(`${iam.issuer}/jwks`));
  await jwtVerify(first.access_token, keys);
  expect(await client.tokenIntrospection(configuration, first.access_token)).toMatchObject({
    active: true,
  });
});

test("a key that was not published for long enough does not sign, unless it is urgent [IDP-13]", async () => {
  const iam = await startProvider();
  const kids = await kidsOf(iam);
  expect(await iam.provider.rotateSigningKey()).toMatchObject({ outcome: "waits" });
  expect(await kidsOf(iam)).toEqual(kids);
  expect(await iam.provider.rotateSigningKey({ isUrgent: true })).toMatchObject({
    outcome: "rotated",
    current: kids[1],
  });
});

test("the job rotates a key after a month, and removes it when nothing that it signed counts [IDP-13]", async () => {
  const clock = { ahead: 0 };
  const events: string[] = [];
  const iam = await startProvider({
    now: () => Date.now() + clock.ahead,
    audit: { record: async ({ event }) => void events.push(event) },
  });
  const [first, second] = await kidsOf(iam);
  clock.ahead += 29 * DAY;
  await job(iam, "provider_key_rotation");
  expect((await kidsOf(iam))[0]).toBe(first);
  clock.ahead += 2 * DAY;
  await job(iam, "provider_key_rotation");
  const rotated = await kidsOf(iam);
  expect([rotated[0], rotated[2]]).toEqual([second, first]);
  expect(events).toEqual(expect.arrayContaining(["signing_key.made", "signing_key.rotated"]));
  clock.ahead += 32 * DAY;
  await job(iam, "provider_key_rotation");
  await job(iam, "provider_clean_up");
  expect(await kidsOf(iam)).not.toContain(first);
});

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("the keys of replicas in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  test("are the same, and a session made at one holds at the other", async () => {
    const at = await create();
    const clock = { ahead: 0 };
    const parts = { at, now: () => Date.now() + clock.ahead };
    const first = await startProvider(parts);
    // Behind one address, as replicas are.
    const second = await startProvider({ ...parts, publicUrl: first.origin });
    const [one, other] = await Promise.all([kidsOf(first), kidsAt(second)]);
    expect(other).toEqual(one);
    const configuration = await first.configure(CONSOLE);
    const tokens = await logIn(configuration, new Browser(first.origin));
    expect(await introspectAt(second, tokens.access_token)).toMatchObject({ active: true });
    clock.ahead += 16 * MINUTE;
    await first.provider.rotateSigningKey();
    await job(second, "provider_keys");
    expect(await kidsAt(second)).toEqual(await kidsOf(first));
    const again = await logIn(configuration, new Browser(first.origin));
    clock.ahead = 0;
    expect(await introspectAt(second, again.access_token)).toMatchObject({ active: true });
    await client.tokenRevocation(configuration, again.access_token);
    expect(await introspectAt(second, again.access_token)).toEqual({ active: false });
  });

  test("are sealed in the database, as all that is secret there [IDP-7]", async () => {
    const at = await create();
    const iam = await startProvider({ at });
    const tokens = await logIn(await iam.configure(CONSOLE), new Browser(iam.origin));
    const { kysely } = at.open();
    const stored = JSON.stringify([
      await kysely.selectFrom("iam_keys").selectAll().execute(),
      await kysely.selectFrom("iam_provider_documents").selectAll().execute(),
      await kysely.selectFrom("iam_sessions").selectAll().execute(),
    ]);
    expect(stored).not.toContain('"d"');
    expect(stored).not.toContain(tokens.refresh_token);
    expect(stored).not.toContain("accountId");
    expect(stored).toContain('"material":"v1.');
  });
});

/** A replica has another address than its issuer here. */
const at = (iam: RunningProvider, path: string) => `${iam.origin}/v1/iam/oidc${path}`;

async function kidsAt(iam: RunningProvider): Promise<(string | undefined)[]> {
  const response = await fetch(at(iam, "/jwks"));
  return ((await response.json()) as JSONWebKeySet).keys.map(({ kid }) => kid);
}

async function introspectAt(iam: RunningProvider, token: string): Promise<unknown> {
  const response = await fetch(at(iam, "/token/introspection"), {
    method: "POST",
    headers: {
      authorization: basicOf(CONSOLE),
    },
    body: new URLSearchParams({ token }),
  });
  return response.json();
}

test("a look that began before an urgent rotation lets no retired key sign again [IDP-13]", async () => {
  let text = "";
  let refreshes = 0;
  const looks = new EventEmitter();
  const clients = {
    all: [CONSOLE],
    async refresh() {
      const seen = text;
      // The second one is of the provider that the slow look makes: it has read the keys by then.
      if (text !== "" && ++refreshes === 2) {
        const open = once(looks, "open");
        looks.emit("held");
        await open;
      }
      return seen;
    },
  };
  const iam = await startProvider({ clients });
  const { provider } = iam;
  const signer = async () => (await provider.current()).keys[0]?.kid;
  const retired = await signer();
  const keys = iam.database.open();
  const stored = async () => {
    const rows = await keys.kysely.selectFrom("iam_keys").select(["kid", "state"]).execute();
    return rows.find(({ state }) => state === "current")?.kid;
  };
  const held = once(looks, "held");
  // As where another replica has applied other clients.
  text = "changed";
  const slow = provider.look();
  await held;
  let isRotated = false;
  const rotation = provider.rotateSigningKey({ isUrgent: true }).then(() => {
    isRotated = true;
  });
  while ((await stored()) === retired) await nextTurn();
  // A rotation that did not wait for the slow look would be over by then.
  for (let turn = 0; turn < 200 && !isRotated; turn++) await stored();
  looks.emit("open");
  await Promise.all([slow, rotation]);
  expect(await signer()).toBe(await stored());
  expect(await signer()).not.toBe(retired);
});
