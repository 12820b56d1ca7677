/** Which requests of clients count as attempts to log in. */
import * as client from "openid-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LoginAttempts } from "../../../src/people/accounts/throttle/login-attempts.ts";
import { Browser } from "../../support/browser.ts";
import {
  basicOf,
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

const counts = new LoginAttempts();
let iam: RunningProvider;
let web: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ counts });
  web = await iam.configure(CONSOLE);
});
afterAll(stopAll);

/** How many attempts of clients there were. */
async function counted() {
  const samples = (await counts.metric.read()).filter(
    ({ labels }) => labels?.["method"] === "client",
  );
  return Object.fromEntries(samples.map(({ labels, value }) => [labels?.["outcome"], value]));
}

let before: Readonly<Record<string, number>>;
beforeEach(async () => {
  before = await counted();
});

/** How many have failed and succeeded since the test began. */
async function since(): Promise<readonly number[]> {
  const now = await counted();
  return ["failed", "succeeded"].map((outcome) => (now[outcome] ?? 0) - (before[outcome] ?? 0));
}

const basic = (secret: string) => ({
  authorization: basicOf({ id: CONSOLE.id, secret }),
});
function send(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields);
  return fetch(`${iam.issuer}${path}`, { method: "POST", headers, body });
}

test.each([
  ["/token", { grant_type: "authorization_code", code: "x" }, 1],
  ["/token", { grant_type: "refresh_token", refresh_token: "x" }, 1],
  ["/token/introspection", { token: "x" }, 0],
  ["/token/revocation", { token: "x" }, 0],
])("a wrong secret at %s, with %j, counts as %i", async (path, fields, expected) => {
  expect((await send(path, fields, basic("wrong"))).status).toBe(401);
  expect(await since()).toEqual([expected, 0]);
});

test("a request without credentials is not an attempt", async () => {
  const fields = { grant_type: "authorization_code", code: "x", client_id: CONSOLE.id };
  expect((await send("/token", fields)).status).toBe(401);
  expect(await since()).toEqual([0, 0]);
});

test("a code that is redeemed counts, and refreshes do not", async () => {
  const tokens = await logIn(web, new Browser(iam.origin));
  expect(await since()).toEqual([0, 1]);
  await client.refreshTokenGrant(web, tokens.refresh_token ?? "");
  expect(await since()).toEqual([0, 1]);
});
