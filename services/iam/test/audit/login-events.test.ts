/** What a running svc-iam records of logins, as another process reads it, and that no secret is in it. */
import { randomBytes, randomUUID } from "node:crypto";
import * as client from "openid-client";
import { type AuditEvent, openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FIRST, linkOf, ownersOf, send } from "../support/bootstrap.ts";
import { Browser } from "../support/browser.ts";
import { type IamService, startIam } from "../support/iam-service.ts";
import { logInAt, withToken } from "../support/log-in-at.ts";

const BACK = "https://app.example.com/callback";
const WEB = { id: randomUUID(), secret: randomBytes(32).toString("base64url") };
const TV = randomUUID();
const WRONG = "the wrong password that somebody typed";

let iam: IamService;
let root: string;
let web: client.Configuration;
let tv: client.Configuration;
/** All that must be nowhere in the audit. */
const secrets: string[] = [FIRST["password"] ?? "", WRONG, WEB.secret];

beforeAll(async () => {
  iam = await startIam({
    iam: {
      clients: [
        {
          id: WEB.id,
          name: "Web",
          flows: ["code"],
          client_secret: WEB.secret,
          redirect_uris: [BACK],
        },
        { id: TV, name: "TV", flows: ["device"] },
      ],
    },
  });
  const { token } = await linkOf(iam);
  secrets.push(token);
  expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  root = (await ownersOf(iam))[0] ?? "";
  const configure = (id: string, authentication: client.ClientAuth) =>
    client.discovery(new URL(`${iam.origin}/v1/iam/oidc`), id, undefined, authentication, {
      execute: [client.allowInsecureRequests],
    });
  web = await configure(WEB.id, client.ClientSecretBasic(WEB.secret));
  tv = await configure(TV, client.None());
});
afterAll(() => iam.stop());

/** The stored events of a type, the newest first. */
async function events(type?: string): Promise<readonly AuditEvent[]> {
  const log = await openAuditLog(iam.options.configuration);
  const page = await log.list(type === undefined ? {} : { type }, { pageSize: 500 });
  await log.close();
  return page.events;
}

const details = async (type: string) =>
  (await events(type)).map(({ subject, data }) => ({
    subject,
    risk: data.risk_level,
    rpc: data.rpc,
    ...data.details,
  }));

const enter = { action: "login", username: "root", password: FIRST["password"] ?? "" };
const AT_PROVIDER = { rpc: "/v1/iam/oidc" };
const AT_PAGES = { rpc: "/v1/iam/oidc/interaction" };

/** Begins a login at the client `Web`. */
async function begin(browser: Browser) {
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(web, {
    redirect_uri: BACK,
    scope: "openid offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { verifier, page: await browser.open(url.href) };
}

/** Logs in at the client `Web`, with consent. */
async function logInWeb(browser: Browser) {
  const { verifier, page } = await begin(browser);
  let visit = await browser.submit(page, enter);
  if (visit.text.includes('value="consent"')) {
    visit = await browser.submit(visit, { action: "consent" });
  }
  const tokens = await client.authorizationCodeGrant(web, new URL(visit.url), {
    pkceCodeVerifier: verifier,
  });
  secrets.push(tokens.access_token, tokens.refresh_token ?? "", tokens.id_token ?? "");
  secrets.push(new URL(visit.url).searchParams.get("code") ?? "");
  return tokens;
}

test("a login, and the consent that it needs [IDP-23]", async () => {
  await logInWeb(new Browser(iam.origin));
  const of = { ...AT_PAGES, subject: root, risk: "LOW", client: WEB.id };
  expect(await details("login.succeeded")).toEqual([{ ...of, ...AT_PROVIDER }]);
  expect(await details("login.consented")).toEqual([of]);
});

test("logins that failed, without what was typed, and then slowed [IDP-23]", async () => {
  const browser = new Browser(iam.origin);
  let { page } = await begin(browser);
  for (let count = 0; count < 7; count++) {
    page = await browser.submit(page, { ...enter, username: "mallory", password: WRONG });
  }
  expect(page.status).toBe(429);
  const of = { ...AT_PAGES, subject: undefined, risk: "MEDIUM", client: WEB.id };
  expect((await details("login.failed")).slice(0, 5)).toEqual(Array(5).fill(of));
  expect((await details("login.slowed"))[0]).toEqual(of);
  expect(JSON.stringify(await events())).not.toContain("mallory");
});

test("a logout at the provider [IDP-23]", async () => {
  const browser = new Browser(iam.origin);
  const { id_token } = await logInWeb(browser);
  const url = client.buildEndSessionUrl(web, { id_token_hint: id_token ?? "" });
  await browser.submit(await browser.open(url.href), { logout: "yes" });
  expect(await details("login.logged_out")).toEqual([
    { rpc: "/v1/iam/oidc/session", subject: root, risk: "LOW" },
  ]);
});

test("a session that its user ends [IDP-23]", async () => {
  const tokens = await logInAt(iam, "root", FIRST["password"] ?? "");
  secrets.push(tokens.accessToken, tokens.refreshToken);
  const { body } = await iam.call("GET", "/v1/iam/me/sessions", undefined, withToken(tokens));
  const id = body.sessions.find((one: { current?: boolean }) => one.current === true).id;
  await iam.call("DELETE", `/v1/iam/me/sessions/${id}`, undefined, withToken(tokens));
  const [event] = await details("session.ended");
  expect(event).toMatchObject({ subject: root, risk: "MEDIUM", kind: "browser", clients: 1 });
});

test("a device that a person approves [IDP-23]", async () => {
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  secrets.push(begun.device_code, begun.user_code);
  const browser = new Browser(iam.origin);
  const confirm = await browser.open(begun.verification_uri_complete ?? "");
  const sure = await browser.submit(confirm, {});
  let visit = await browser.submit(sure, { confirm: "yes" });
  if (visit.text.includes('name="password"')) visit = await browser.submit(visit, enter);
  if (visit.text.includes('value="consent"')) {
    visit = await browser.submit(visit, { action: "consent" });
  }
  expect(visit.text).toContain("The device is logged in");
  expect(await details("device.approved")).toEqual([
    { rpc: "/v1/iam/oidc/device", subject: root, risk: "MEDIUM", client: TV },
  ]);
});

test("a refresh token that is used again [IDP-23]", async () => {
  const { refresh_token: first = "" } = await logInWeb(new Browser(iam.origin));
  const siblings = [
    await client.refreshTokenGrant(web, first),
    await client.refreshTokenGrant(web, first),
  ];
  for (const { refresh_token, access_token } of siblings) {
    secrets.push(refresh_token ?? "", access_token);
  }
  // The first use of one ends the other.
  await client.refreshTokenGrant(web, siblings[0]?.refresh_token ?? "");
  await expect(
    client.refreshTokenGrant(web, siblings[1]?.refresh_token ?? ""),
  ).rejects.toMatchObject({ error: "invalid_grant" });
  expect((await details("refresh_token.reused"))[0]).toEqual({
    ...AT_PROVIDER,
    subject: root,
    risk: "HIGH",
    client: WEB.id,
  });
});

test("the link of the first owner [IDP-23]", async () => {
  const used = await details("bootstrap.used");
  expect(used).toEqual([
    { subject: "zone:acme", risk: "CRITICAL", rpc: "/v1/iam/ui/bootstrap", owner: root },
  ]);
  expect(await details("bootstrap.link_made")).toEqual([
    { subject: "zone:acme", risk: "CRITICAL", rpc: "", expires: expect.any(String) },
  ]);
});

test("no event holds a secret [IDP-23]", async () => {
  const all = JSON.stringify(await events());
  expect(secrets.length).toBeGreaterThan(15);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(7);
    expect(all).not.toContain(secret);
  }
});
