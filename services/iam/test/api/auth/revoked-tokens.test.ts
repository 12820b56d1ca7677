/** A service revokes tokens of clients that svc-iam itself is not. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  LOGIN_CLIENT,
  startIam,
} from "../../support/iam-service.ts";
import { relate } from "../../support/passwords.ts";

const PASSWORD = "correct horse battery staple";
const [secret, robotSecret] = [0, 1].map(() => randomBytes(32).toString("hex"));
const CALLBACK = "https://app.example.com/callback";
const APP = {
  id: randomUUID(),
  name: "App",
  flows: ["code"],
  client_secret: secret,
  redirect_uris: [CALLBACK],
  ask_consent: false,
};
const ROBOT = {
  id: randomUUID(),
  name: "Robot",
  flows: ["service_account"],
  client_secret: robotSecret,
};
// The challenge of RFC 7636, Appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

let iam: IamService;
beforeAll(async () => {
  iam = await startIam({
    iam: { clients: [APP, ROBOT] },
    oidc: { audience: [LOGIN_CLIENT, APP.id, ROBOT.id] },
  });
  await relate(iam, "owner", "root");
  const user = {
    username: "alice",
    displayName: "Alice",
    email: "alice@example.com",
    password: PASSWORD,
  };
  const { status } = await iam.call("POST", "/v1/users", user, asUser("root"));
  expect(status).toBe(200);
});
afterAll(() => iam.stop());

async function ask(path: string, client: typeof APP | typeof ROBOT, form: object) {
  const response = await fetch(`${iam.origin}/v1/iam/oidc/token${path}`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${client.id}:${client.client_secret}`).toString("base64")}`,
    },
    body: new URLSearchParams({ ...form }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

async function logIn() {
  const query = new URLSearchParams({
    client_id: APP.id,
    response_type: "code",
    scope: "openid",
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  const browser = new Browser(iam.origin);
  const page = await browser.open(`${iam.origin}/v1/iam/oidc/auth?${query}`);
  const fields = { action: "login", username: "alice", password: PASSWORD };
  const back = await browser.submit(page, fields);
  const code = new URL(back.url).searchParams.get("code");
  const form = { grant_type: "authorization_code", code, redirect_uri: CALLBACK };
  return (await ask("", APP, { ...form, code_verifier: VERIFIER })).body;
}

/** By the response to a call with it. */
async function isActive(token: string): Promise<boolean> {
  const bearer = { Authorization: `Bearer ${token}` };
  const { status } = await iam.call("GET", "/v1/iam/me", undefined, bearer);
  expect([200, 401]).toContain(status);
  return status === 200;
}
const revoke = async (token: string, kind?: string) =>
  (await iam.call("POST", "/v1/iam/tokens:revoke", { token, kind }, AS_HUB)).status;

test.each([undefined, "TOKEN_KIND_ACCESS"])(
  "the access token of an application no longer counts (%s) [IAM-42]",
  async (kind) => {
    const { access_token: token, refresh_token: refreshes } = await logIn();
    expect(await isActive(token)).toBe(true);
    expect(await revoke(token, kind)).toBe(200);
    expect(await isActive(token)).toBe(false);
    // Only that token.
    const form = { grant_type: "refresh_token", refresh_token: refreshes };
    expect((await ask("", APP, form)).status).toBe(200);
  },
);

test.each([undefined, "TOKEN_KIND_REFRESH"])(
  "the refresh token of an application no longer refreshes (%s) [IAM-42]",
  async (kind) => {
    const { refresh_token: token } = await logIn();
    expect(await revoke(token, kind)).toBe(200);
    const form = { grant_type: "refresh_token", refresh_token: token };
    expect(await ask("", APP, form)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  },
);

test("the token of a service account no longer counts [IAM-42]", async () => {
  const { access_token: token } = (await ask("", ROBOT, { grant_type: "client_credentials" })).body;
  expect(await isActive(token)).toBe(true);
  expect(await revoke(token)).toBe(200);
  expect(await isActive(token)).toBe(false);
});

test("a client cannot, and learns that it cannot", async () => {
  const { access_token: token } = await logIn();
  expect(await ask("/revocation", ROBOT, { token })).toMatchObject({
    status: 400,
    body: { error: "unauthorized_client" },
  });
  expect(await isActive(token)).toBe(true);
  expect((await ask("/revocation", APP, { token })).status).toBe(200);
  expect(await isActive(token)).toBe(false);
});
