import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { pending } from "../../../../../test/support/pending.ts";
import { Browser } from "../../support/browser.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

const BYE = "https://app.example.com/bye";
const received: string[] = [];
/** What the client waits for before it answers. */
let released = Promise.resolve();
const listener = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  received.push(new URLSearchParams(body).get("logout_token") ?? "");
  await released;
  response.end();
});

let iam: RunningProvider;
let web: client.Configuration;
beforeAll(async () => {
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const backchannelLogoutUri = `http://localhost:${port}/logged-out`;
  iam = await startProvider({ clients: [{ ...CONSOLE, backchannelLogoutUri }] });
  web = await iam.configure(CONSOLE);
});
afterAll(async () => {
  await stopAll();
  listener.close();
});

async function expectTold(sid: unknown) {
  await expect
    .poll(() => received.length, { message: "the client is notified of a logout" })
    .toBeGreaterThan(0);
  const token = received.pop() ?? "";
  const keys = createRemoteJWKSet(new URL(`${iam.issuer}/jwks`));
  const { payload } = await jwtVerify(token, keys, {
    issuer: iam.issuer,
    audience: CONSOLE.id,
    typ: "logout+jwt",
  });
  expect(payload).toMatchObject({
    sub: ALICE.id,
    sid,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
}

test("logout asks, ends session and tokens, notifies the clients, and leads back", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const url = client.buildEndSessionUrl(web, {
    id_token_hint: tokens.id_token ?? "",
    post_logout_redirect_uri: BYE,
    state: "s-1",
  });
  const page = await browser.open(url.href);
  expect(page.text).toContain("Log out?");
  expect(page.text).not.toContain("<script");
  const back = await browser.submit(page, { logout: "yes" });
  expect(back.url).toBe("https://app.example.com/bye?state=s-1");
  await expectTold(tokens.claims()?.["sid"]);
  await expect(client.refreshTokenGrant(web, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
  expect(await iam.provider.sessions.list(ALICE.id)).toEqual([]);
  const events = await iam.events("login.logged_out");
  expect(events.at(-1)?.data).toMatchObject({ resource: `user:${ALICE.id}` });
  const again = await browser.open((await begin(web)).url.href);
  expect(again.text).toContain('name="password"');
});

test("a form that is sent twice leads to the page of those who are logged out [IDP-12]", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const page = await browser.open(`${iam.issuer}/session/end`);
  const first = await browser.submit(page, { logout: "yes" });
  await expectTold(tokens.claims()?.["sid"]);
  const second = await browser.submit(page, { logout: "yes" });
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.text).toContain("Logged out");
});

test("who sends the form without a logout stays logged in, at all clients [IDP-12]", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const url = client.buildEndSessionUrl(web, {
    id_token_hint: tokens.id_token ?? "",
    post_logout_redirect_uri: BYE,
  });
  const page = await browser.open(url.href);
  expect(page.text).toContain('<a class="button second" href="/v1/iam/oidc/account">');
  // Such as that of a page of before.
  expect((await browser.submit(page, {})).url).toBe(`${iam.issuer}/account`);
  await client.refreshTokenGrant(web, tokens.refresh_token ?? "");
  expect((await browser.open((await begin(web)).url.href)).url).toContain("code=");
});

test("who does not confirm stays logged in", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const url = client.buildEndSessionUrl(web, { id_token_hint: tokens.id_token ?? "" });
  // A page of another site can only show the question.
  await browser.open(url.href);
  await client.refreshTokenGrant(web, tokens.refresh_token ?? "");
});

test.each([
  ["an address that is not declared", { post_logout_redirect_uri: "https://evil.example.com/" }],
  ["a hint that is not a token", { id_token_hint: "x.y.z" }],
  ["a client that does not exist", { client_id: "0b0d0f3f-0000-4000-8000-000000000000" }],
])("logout with %s is refused, and leads nowhere", async (_, parameters) => {
  const url = client.buildEndSessionUrl(web, parameters);
  const visit = await new Browser(iam.origin).open(url.href);
  expect([visit.status, visit.url]).toEqual([400, url.href]);
});

test.each([
  [
    "an address and a state",
    { post_logout_redirect_uri: BYE, state: "s &1" },
    `${BYE}?state=s+%261`,
  ],
  ["an address", { post_logout_redirect_uri: BYE }, BYE],
])("with %s, who is not logged in is led there at once", async (_, parameters, to) => {
  const browser = new Browser(iam.origin);
  const url = client.buildEndSessionUrl(web, { client_id: CONSOLE.id, ...parameters });
  const response = await browser.request(url.href);
  expect([response.status, response.headers.get("location")]).toEqual([303, to]);
  expect([browser.lines, await response.text()]).toEqual([
    [],
    expect.not.stringContaining("<form"),
  ]);
});

test("who is not logged in sees that nothing is left to do, and the device that is under way stays", async () => {
  const browser = new Browser(iam.origin);
  expect((await browser.open(`${iam.issuer}/session/end`)).text).toContain("Logged out");
  expect(browser.lines).toEqual([]);
  const form = await browser.open(`${iam.issuer}/device`);
  await browser.open(`${iam.issuer}/session/end`);
  const sent = await browser.submit(form, { user_code: "BBBB-BBBB" });
  expect(sent.text).toContain("The code is not known");
});

test("an address without a client that has registered it leads nowhere", async () => {
  const url = `${iam.issuer}/session/end?post_logout_redirect_uri=https://evil.example.com/`;
  const visit = await new Browser(iam.origin).open(url);
  expect([visit.url, visit.text]).toEqual([url, expect.stringContaining("Logged out")]);
});

test("a session that is ended elsewhere ends its tokens, and the clients are notified", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const sessions = await iam.provider.sessions.list(ALICE.id);
  expect(sessions[0]).toMatchObject({
    kind: "browser",
    address: "127.0.0.1",
    userAgent: "node",
    clients: [{ clientId: CONSOLE.id, sid: tokens.claims()?.["sid"] }],
  });
  expect(await iam.provider.endSession(sessions[0]?.id ?? "", ALICE.id)).toBe(true);
  await expectTold(tokens.claims()?.["sid"]);
  expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
  await expect(client.refreshTokenGrant(web, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  const again = await browser.open((await begin(web)).url.href);
  expect(again.text).toContain('name="password"');
  expect(await iam.provider.endSession(sessions[0]?.id ?? "", ALICE.id)).toBe(false);
});

test("nobody waits for a client that does not answer", async () => {
  const { port } = listener.address() as AddressInfo;
  const backchannelLogoutUri = `http://localhost:${port}/logged-out`;
  // Whoever waited would not go on before the test has failed.
  const patient = await startProvider({
    clients: [{ ...CONSOLE, backchannelLogoutUri }],
    fetchTimeoutMs: 3_600_000,
  });
  const app = await patient.configure(CONSOLE);
  received.length = 0;
  const answer = pending();
  released = answer.promise;
  onTestFinished(answer.resolve);
  const browser = new Browser(patient.origin);
  const tokens = await logIn(app, browser);
  const id_token_hint = tokens.id_token ?? "";
  const page = await browser.open(client.buildEndSessionUrl(app, { id_token_hint }).href);
  expect((await browser.submit(page, { logout: "yes" })).text).toContain("Logged out");
  await logIn(app, new Browser(patient.origin));
  expect(await patient.provider.endSessions(ALICE.id)).toBe(1);
  await expect.poll(() => received.length, { message: "the client is notified of both" }).toBe(2);
  expect(patient.logged).toEqual([]);
  received.length = 0;
});

test("a session ends also where no client can be notified of it", async () => {
  await iam.provider.endSessions(ALICE.id);
  await logIn(web, new Browser(iam.origin));
  vi.spyOn(iam.provider, "current").mockRejectedValueOnce(new Error("no key can be read"));
  expect(await iam.provider.endSessions(ALICE.id)).toBe(1);
  expect(await iam.provider.sessions.list(ALICE.id)).toEqual([]);
  expect(iam.logged.splice(0)).toEqual([
    expect.stringMatching(/^a client was not notified of a logout .*no key can be read/),
  ]);
});
