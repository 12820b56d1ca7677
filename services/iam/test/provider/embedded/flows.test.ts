import { randomUUID } from "node:crypto";
import { decodeJwt, importJWK } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientDeclaration } from "../../../src/provider/embedded/client-declaration.ts";
import { Browser } from "../../support/browser.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  basicOf,
  begin,
  CONSOLE,
  enter,
  KEYED,
  logIn,
  ROBOT,
  ROBOT_KEY,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../../support/provider-server.ts";

const NOTES = "urn:acme:notes";
const HUB = "https://hub.example.com/v1";
const CALLER: ClientDeclaration = {
  ...ROBOT,
  id: randomUUID(),
  name: "Caller",
  audience: [NOTES, HUB],
};

let iam: RunningProvider;
let web: client.Configuration;
let tv: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV, ROBOT, KEYED, CALLER] });
  web = await iam.configure(CONSOLE);
  tv = await iam.configure(TV);
});
afterAll(stopAll);

async function keyed(): Promise<client.Configuration> {
  const { privateKey, kid, alg } = ROBOT_KEY;
  const key = await importJWK(privateKey.export({ format: "jwk" }), alg);
  return iam.configure(KEYED, client.PrivateKeyJwt({ key: key as never, kid }));
}

/** Asks for a token of a service account, for resources. */
async function askTokenOf(declared: ClientDeclaration, resources: readonly string[]) {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  for (const resource of resources) body.append("resource", resource);
  const init = { method: "POST", headers: { authorization: basicOf(declared) }, body };
  const response = await fetch(`${iam.issuer}/token`, init);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function approve(browser: Browser, begun: client.DeviceAuthorizationResponse) {
  let visit = await browser.open(begun.verification_uri_complete ?? "");
  if (visit.text.includes("<script")) throw new Error("a script");
  // The code is filled in; nothing is submitted by itself.
  visit = await browser.submit(visit, {});
  expect(visit.text).toContain("Log in on this device?");
  expect(visit.text).toContain("<strong><bdi>TV</bdi></strong>");
  expect(visit.text).toContain("<code>127.0.0.1</code>");
  expect(visit.text).toContain(begun.user_code);
  visit = await browser.submit(visit, { confirm: "yes" });
  if (visit.text.includes('name="password"')) visit = await enter(browser, visit);
  expect(visit.text).toContain("The device is logged in");
}

test("a device is logged in by a browser, keeps its login when the browser logs out, and can be ended [IDP-8]", async () => {
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid profile" });
  expect(begun.user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  expect(begun.expires_in).toBe(600);
  const waiting = client.pollDeviceAuthorizationGrant(tv, { ...begun, interval: 1 });
  const browser = new Browser(iam.origin);
  const inBrowser = await logIn(web, browser);
  await approve(browser, begun);
  const tokens = await waiting;
  expect(decodeJwt(tokens.access_token)).toMatchObject({
    sub: ALICE.id,
    subject_type: "user",
    name: ALICE.displayName,
    preferred_username: "alice",
  });
  expect(decodeJwt(tokens.access_token)).not.toHaveProperty("email");
  expect(tokens.claims()?.["sid"]).not.toBe(inBrowser.claims()?.["sid"]);
  expect((await iam.events("device.approved"))[0]?.data).toMatchObject({
    resource: `user:${ALICE.id}`,
    details: { client: TV.id },
  });

  const logout = client.buildEndSessionUrl(web, { id_token_hint: inBrowser.id_token ?? "" });
  await browser.submit(await browser.open(logout.href), { logout: "yes" });
  const next = await client.refreshTokenGrant(tv, tokens.refresh_token ?? "");

  const sessions = await iam.provider.sessions.list(ALICE.id);
  const device = sessions.find(({ kind }) => kind === "device");
  expect(device).toMatchObject({ address: "127.0.0.1", clients: [{ clientId: TV.id }] });
  expect(await iam.provider.endSession(device?.id ?? "", randomUUID())).toBe(false);
  expect(await iam.provider.endSession(device?.id ?? "", ALICE.id)).toBe(true);
  await expect(client.refreshTokenGrant(tv, next.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
});

test("a device code that is used again ends the login, which is audited [IDP-23]", async () => {
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid profile" });
  const poll = { ...begun, interval: 1 };
  const waiting = client.pollDeviceAuthorizationGrant(tv, poll);
  const browser = new Browser(iam.origin);
  await logIn(web, browser);
  await approve(browser, begun);
  const tokens = await waiting;
  expect(await iam.events("device_code.reused")).toEqual([]);
  await expect(client.pollDeviceAuthorizationGrant(tv, poll)).rejects.toMatchObject({
    error: "invalid_grant",
  });
  const events = await iam.events("device_code.reused");
  expect(events.map(({ subject, data }) => [subject, data.risk_level, data.details])).toEqual([
    [`user:${ALICE.id}`, "HIGH", { client: TV.id }],
  ]);
  expect(JSON.stringify(events)).not.toContain(begun.device_code);
  await expect(client.refreshTokenGrant(tv, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
});

test("a device whose login was refused gets access_denied, and its code works once [IDP-8]", async () => {
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  const browser = new Browser(iam.origin);
  const page = await browser.open(begun.verification_uri_complete ?? "");
  const confirm = await browser.submit(page, {});
  await browser.submit(confirm, { abort: "yes" });
  await expect(
    client.pollDeviceAuthorizationGrant(tv, { ...begun, interval: 1 }),
  ).rejects.toMatchObject({ error: "access_denied" });
});

test("a user code that nobody has is reported, without an error of the server", async () => {
  const browser = new Browser(iam.origin);
  const page = await browser.open(`${iam.issuer}/device`);
  const answer = await browser.submit(page, { user_code: '"><script>alert(1)</script>' });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toContain("<script");
  expect(answer.text).toContain("The code is not known");
});

test.each([
  ["a secret", () => iam.configure(ROBOT), ROBOT],
  ["private_key_jwt", keyed, KEYED],
] as const)("a service account gets tokens with %s [IAM-14]", async (_, configure, declared) => {
  const configuration = await configure();
  const tokens = await client.clientCredentialsGrant(configuration, { scope: "profile" });
  expect(tokens.refresh_token).toBeUndefined();
  const claims = decodeJwt(tokens.access_token);
  expect(claims).toMatchObject({
    sub: declared.id,
    id: declared.id,
    aud: declared.id,
    subject_type: "service_account",
    name: declared.name,
    owner: "acme",
    jti: expect.any(String),
    sid: expect.any(String),
    exp: (claims.iat as number) + 300,
  });
  expect(await client.tokenIntrospection(configuration, tokens.access_token)).toMatchObject({
    active: true,
    sub: declared.id,
  });
  await client.tokenRevocation(configuration, tokens.access_token);
  expect(await client.tokenIntrospection(configuration, tokens.access_token)).toEqual({
    active: false,
  });
});

test.each([
  ["without a resource, the first one of its audience", [], NOTES],
  ["with one of them, that one", [HUB], HUB],
  ["with one of them twice, that one", [HUB, HUB], HUB],
  ["with an empty resource, the first one", [""], NOTES],
])("the token of a service account is for, %s [IDP-27]", async (_, resources, audience) => {
  const answer = await askTokenOf(CALLER, resources);
  expect(answer.status).toBe(200);
  const claims = decodeJwt(answer.body.access_token);
  expect(claims).toMatchObject({ aud: audience, sub: CALLER.id, client_id: CALLER.id });
  const configuration = await iam.configure(CALLER);
  const token = answer.body.access_token;
  expect(await client.tokenIntrospection(configuration, token)).toMatchObject({
    active: true,
    aud: audience,
  });
  await client.tokenRevocation(configuration, token);
  expect(await client.tokenIntrospection(configuration, token)).toEqual({ active: false });
});

test.each<[string, ClientDeclaration, readonly string[]]>([
  ["of nobody", CALLER, ["urn:acme:other"]],
  ["of another client", ROBOT, [NOTES]],
  ["that is the id of another client", CALLER, [CONSOLE.id]],
  ["that begins alike", CALLER, ["urn:acme:note"]],
  ["that stands for the id of who has no list", CALLER, ["urn:svc-access:platform"]],
  ["that is longer", CALLER, [`${HUB}/x`]],
  ["in another case", CALLER, ["URN:ACME:NOTES"]],
  ["with a slash at its end", CALLER, [`${HUB}/`]],
  ["with dots", CALLER, ["https://hub.example.com/x/../v1"]],
  ["with a fragment", CALLER, [`${HUB}#x`]],
  ["with a user", CALLER, ["https://evil@hub.example.com/v1"]],
  ["with white space", CALLER, [` ${NOTES}`]],
  ["that is relative", CALLER, ["notes"]],
  ["that is a member of all objects", CALLER, ["__proto__"]],
  ["that is long", CALLER, [`urn:acme:${"x".repeat(4000)}`]],
  ["beside a good one", CALLER, [NOTES, "urn:acme:other"]],
  ["beside another good one", CALLER, [NOTES, HUB]],
])("a resource %s is refused [IDP-27]", async (_, declared, resources) => {
  const { status, body } = await askTokenOf(declared, resources);
  expect([status, body.error]).toEqual([400, "invalid_target"]);
  expect(body.access_token).toBeUndefined();
});

test("a client that people log in to cannot name a resource of others [IDP-27]", async () => {
  const { url } = await begin(web, { resource: NOTES });
  const visit = await new Browser(iam.origin).open(url.href);
  expect(new URL(visit.url).searchParams.get("error")).toBe("invalid_target");
});

test("a client assertion is good once", async () => {
  const configuration = await keyed();
  const bodies: string[] = [];
  configuration[client.customFetch] = (url, init) => {
    bodies.push(String(init.body));
    return fetch(url, init as RequestInit);
  };
  await client.clientCredentialsGrant(configuration);
  const again = await fetch(`${iam.issuer}/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: bodies[0] as string,
  });
  expect([again.status, await again.json()]).toMatchObject([401, { error: "invalid_client" }]);
});

test("introspection describes to a client its own tokens only", async () => {
  const tokens = await logIn(web, new Browser(iam.origin));
  expect(await client.tokenIntrospection(web, tokens.access_token)).toMatchObject({
    active: true,
    sub: ALICE.id,
    client_id: CONSOLE.id,
    sid: tokens.claims()?.["sid"],
  });
  expect(await client.tokenIntrospection(web, tokens.refresh_token ?? "")).toMatchObject({
    active: true,
  });
  const robot = await iam.configure(ROBOT);
  for (const token of [tokens.access_token, tokens.refresh_token ?? "", "x.y.z", "nothing"]) {
    expect(await client.tokenIntrospection(robot, token)).toEqual({ active: false });
  }
  // It must not take the token for revoked.
  for (const token of [tokens.access_token, tokens.refresh_token ?? ""]) {
    await expect(client.tokenRevocation(robot, token)).rejects.toMatchObject({
      status: 400,
      error: "unauthorized_client",
      error_description: "the token was issued to another client",
    });
  }
  expect(await client.tokenIntrospection(web, tokens.access_token)).toMatchObject({ active: true });
});

test("the token of a service account has no claims without a value, and its introspection neither", async () => {
  const robot = await iam.configure(ROBOT);
  const { access_token: token } = await client.clientCredentialsGrant(robot);
  const introspected = await client.tokenIntrospection(robot, token);
  expect(introspected).toMatchObject({ active: true, name: "Robot" });
  for (const claims of [decodeJwt(token), introspected]) {
    expect(claims).toMatchObject({ sub: ROBOT.id, owner: "acme" });
    expect(claims).not.toHaveProperty("email");
    expect(Object.values(claims)).not.toContain("");
  }
});

test("a revoked access token leaves the login; a revoked refresh token ends it and its access tokens", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const before = (await iam.events("token.revoked")).length;
  await client.tokenRevocation(web, tokens.access_token);
  expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
  const next = await client.refreshTokenGrant(web, tokens.refresh_token ?? "");
  expect(await client.tokenIntrospection(web, next.access_token)).toMatchObject({ active: true });
  await client.tokenRevocation(web, next.refresh_token ?? "");
  await expect(client.refreshTokenGrant(web, next.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  expect(await client.tokenIntrospection(web, next.access_token)).toEqual({ active: false });
  const events = (await iam.events("token.revoked")).slice(before);
  const revoked = events.map(({ subject, data }) => [subject, data.risk_level, data.details]);
  const of = { client: CONSOLE.id };
  expect(revoked).toEqual([
    [`user:${ALICE.id}`, "LOW", { ...of, kind: "access_token" }],
    [`user:${ALICE.id}`, "MEDIUM", { ...of, kind: "refresh_token" }],
  ]);
});

/** The events of what was slowed. */
const slowed = async () =>
  (await iam.events("login.slowed")).map(({ data }) => [data.risk_level, data.details]);

test("who guesses user codes is slowed, by address [IDP-8]", async () => {
  const browser = new Browser(iam.origin);
  const page = await browser.open(`${iam.issuer}/device`);
  let answer = await browser.submit(page, { user_code: "BBBB-BBBB" });
  for (let count = 0; count < 8 && answer.status !== 429; count++) {
    answer = await browser.submit(page, { user_code: `BBBB-BBB${"BCDFGHJK"[count]}` });
  }
  expect(answer.status).toBe(429);
  expect(answer.text).toMatch(/Try again in \d+ s/);
  expect(await slowed()).toEqual([["MEDIUM", { reason: "user_codes" }]]);
});

test("who starts many device logins is refused for a while, by address", async () => {
  const start = () =>
    fetch(`${iam.issuer}/device/auth`, {
      method: "POST",
      body: new URLSearchParams({ client_id: TV.id, scope: "openid" }),
    });
  let answer = await start();
  expect(answer.status).toBe(200);
  for (let count = 0; count < 40 && answer.status === 200; count++) answer = await start();
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await answer.json()).toMatchObject({ error: "temporarily_unavailable" });
  expect(await slowed()).toContainEqual(["MEDIUM", { reason: "device_starts" }]);
  const before = (await slowed()).length;
  for (let count = 0; count < 30; count++) await start();
  // A flood of them is a few events.
  expect((await slowed()).length - before).toBeLessThan(10);
});
