/** What clients get that ask at the endpoints where they authenticate for what they may not, or in two ways. */
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientDeclaration } from "../../../../src/provider/embedded/client-declaration.ts";
import {
  basicOf,
  CONSOLE,
  KEYED,
  ROBOT,
  ROBOT_KEY,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../../../support/provider-server.ts";

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

let iam: RunningProvider;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV, ROBOT, KEYED] });
});
afterAll(stopAll);

type Form = Readonly<Record<string, string>>;

/** A request of a client, which authenticates as it may, or not at all. */
async function ask(path: string, { id, secret }: ClientDeclaration, form: Form) {
  const response = await fetch(`${iam.issuer}${path}`, {
    method: "POST",
    headers: secret === undefined ? {} : { authorization: basicOf({ id, secret }) },
    body: new URLSearchParams(secret === undefined ? { client_id: id, ...form } : form),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

async function assertion(): Promise<Form> {
  const { privateKey, kid, alg } = ROBOT_KEY;
  const signed = new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg, kid })
    .setIssuer(KEYED.id)
    .setSubject(KEYED.id)
    .setAudience(iam.issuer)
    .setIssuedAt()
    .setExpirationTime("1m");
  return {
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await signed.sign(privateKey),
  };
}

test.each<[string, string, ClientDeclaration, Form]>([
  ["client_credentials", "/token", CONSOLE, {}],
  [DEVICE_CODE, "/token", CONSOLE, { device_code: "x" }],
  ["authorization_code", "/token", ROBOT, { code: "x" }],
  ["refresh_token", "/token", ROBOT, { refresh_token: "x" }],
  ["authorization_code", "/token", TV, { code: "x" }],
  [DEVICE_CODE, "/device/auth", CONSOLE, { scope: "openid" }],
  [DEVICE_CODE, "/device/auth", ROBOT, { scope: "openid" }],
])("the grant %s at %s of a client that may not use it is unauthorized_client", async (...one) => {
  const [grant_type, path, client, form] = one;
  const { status, body } = await ask(path, client, { grant_type, ...form });
  expect([status, body]).toEqual([
    400,
    { error: "unauthorized_client", error_description: expect.stringContaining(grant_type) },
  ]);
});

test.each<[string, string, ClientDeclaration, Form, string]>([
  [
    "a grant that there is not",
    "/token",
    ROBOT,
    { grant_type: "password" },
    "unsupported_grant_type",
  ],
  ["none", "/token", ROBOT, {}, "invalid_request"],
  [
    "a code that there is not",
    "/token",
    CONSOLE,
    { grant_type: "authorization_code", code: "x" },
    "invalid_",
  ],
])("%s is refused as before", async (_, path, client, form, error) => {
  const answer = await ask(path, client, form);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(error)]);
});

describe("a login on a device", () => {
  test.each<[string, Form]>([
    ["without a scope", {}],
    ["with an empty scope", { scope: "" }],
    ["with scopes that there are not", { scope: "read write" }],
  ])("%s is invalid_scope", async (_, form) => {
    const { status, body } = await ask("/device/auth", TV, form);
    expect([status, body]).toEqual([
      400,
      { error: "invalid_scope", error_description: expect.stringContaining("openid") },
    ]);
  });

  test.each(["openid", "profile", "offline_access", "openid read"])(
    "for %j begins",
    async (scope) => {
      const { status, body } = await ask("/device/auth", TV, { scope });
      expect([status, body.user_code]).toEqual([200, expect.any(String)]);
    },
  );
});

test.each([{}, { scope: "read" }, { scope: "openid" }])(
  "a service account gets a token with %j: its scopes grant nothing",
  async (form) => {
    const grant_type = "client_credentials";
    expect((await ask("/token", ROBOT, { grant_type, ...form })).status).toBe(200);
  },
);

const CREDENTIALS = { grant_type: "client_credentials", token: "x", scope: "openid" };

describe.each(["/token", "/token/introspection", "/token/revocation", "/device/auth"])(
  "at %s",
  (path) => {
    test.each<[string, ClientDeclaration, () => Promise<Form>]>([
      ["Basic and the secret", ROBOT, async () => ({ client_secret: ROBOT.secret ?? "" })],
      ["Basic and another secret", ROBOT, async () => ({ client_secret: "x" })],
      ["Basic and an assertion", ROBOT, assertion],
      [
        "a secret and an assertion",
        KEYED,
        async () => ({ ...(await assertion()), client_secret: "x" }),
      ],
    ])("%s in the form are invalid_request", async (_, client, more) => {
      const { status, body } = await ask(path, client, { ...CREDENTIALS, ...(await more()) });
      expect([status, body.error]).toEqual([400, "invalid_request"]);
      expect(body.error_description).toMatch(/authenticates by .* and .*: send one of them/);
    });
  },
);

test.each<[string, ClientDeclaration, () => Promise<Form>]>([
  ["Basic alone", ROBOT, async () => ({})],
  ["Basic and its own id", ROBOT, async () => ({ client_id: ROBOT.id })],
  ["Basic and an empty secret", ROBOT, async () => ({ client_secret: "" })],
  ["an assertion alone", KEYED, assertion],
])("%s authenticates", async (_, client, more) => {
  const { status } = await ask("/token", client, { ...CREDENTIALS, ...(await more()) });
  expect(status).toBe(200);
});

test("a secret in the form alone authenticates nobody", async () => {
  const { id } = ROBOT;
  const form = { ...CREDENTIALS, client_secret: ROBOT.secret ?? "" };
  const { status, body } = await ask("/token", { ...TV, id }, form);
  expect([status, body.error]).toEqual([401, "invalid_client"]);
});

describe("a request without the authentication of a client is invalid_client", () => {
  const NO_CLIENT = /^no client: send client_id, with the secret as HTTP Basic authentication/;
  const INTROSPECTS = /^a client that introspects tokens must authenticate$/;
  const SCHEME = /^the header Authorization has another scheme than Basic$/;

  test.each<[string, string, Form, string | undefined, RegExp]>([
    ["nothing", "/token", {}, undefined, NO_CLIENT],
    ["nothing", "/device/auth", { scope: "openid" }, undefined, NO_CLIENT],
    ["nothing", "/token/revocation", { token: "x" }, undefined, NO_CLIENT],
    ["nothing", "/token/introspection", { token: "x" }, undefined, INTROSPECTS],
    ["an empty id", "/token", { client_id: "" }, undefined, NO_CLIENT],
    ["an empty secret", "/token", { client_secret: "" }, undefined, NO_CLIENT],
    [
      "an id alone",
      "/token/introspection",
      { client_id: TV.id, token: "x" },
      undefined,
      INTROSPECTS,
    ],
    ["a Bearer token", "/token", { client_id: TV.id }, "Bearer x", SCHEME],
    ["a scheme that begins alike", "/token", {}, "Basics eDp4", SCHEME],
    ["no scheme", "/token/introspection", { token: "x" }, "", SCHEME],
  ])("with %s at %s", async (_, path, form, authorization, description) => {
    const response = await fetch(`${iam.issuer}${path}`, {
      method: "POST",
      headers: authorization === undefined ? {} : { authorization },
      body: new URLSearchParams({ grant_type: "client_credentials", ...form }),
    });
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: "invalid_client", error_description: expect.stringMatching(description) },
    ]);
    expect(response.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test.each<[string, ClientDeclaration, Form]>([
    ["a client with a secret", CONSOLE, { token: "x" }],
    ["a service account with a secret", ROBOT, { token: "x" }],
  ])("but not of %s", async (_, from, form) => {
    expect(await ask("/token/introspection", from, form)).toEqual({
      status: 200,
      body: { active: false },
    });
  });

  test("but not of one with a key", async () => {
    const response = await fetch(`${iam.issuer}/token/introspection`, {
      method: "POST",
      body: new URLSearchParams({ ...(await assertion()), token: "x" }),
    });
    expect([response.status, await response.json()]).toEqual([200, { active: false }]);
  });
});
