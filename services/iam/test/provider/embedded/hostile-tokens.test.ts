import { createPublicKey, generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CompactSign, decodeJwt, decodeProtectedHeader, importJWK, UnsecuredJWT } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import type { ClientDeclaration } from "../../../src/provider/embedded/client-declaration.ts";
import { type SigningKey, SigningKeys } from "../../../src/provider/embedded/keys/signing-keys.ts";
import { Browser } from "../../support/browser.ts";
import {
  basicOf,
  CONSOLE,
  KEYS,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const evil = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEYED: ClientDeclaration = {
  id: randomUUID(),
  name: "Robot",
  flows: ["service_account"],
  redirectUris: [],
  postLogoutRedirectUris: [],
  asksConsent: false,
  publicKeys: [{ ...pair.publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }],
};

/** Counts what is fetched from addresses in tokens. */
let fetched = 0;
const bait = createServer((_, response) => {
  fetched++;
  response.end(JSON.stringify({ keys: [evil.publicKey.export({ format: "jwk" })] }));
});

let iam: RunningProvider;
let web: client.Configuration;
let key: SigningKey;
let good: string;
let idToken: string;
let refreshToken: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => bait.listen(0, "127.0.0.1", resolve));
  iam = await startProvider({ clients: [CONSOLE, KEYED] });
  web = await iam.configure(CONSOLE);
  const box = new SecretBox(EncryptionKeys.parse(KEYS));
  const database = new ProviderDatabase(iam.database.open());
  const none = { keyMade() {}, keyRotated() {} };
  key = (await new SigningKeys(database, box, none).load())[0] as SigningKey;
  const tokens = await logIn(web, new Browser(iam.origin));
  good = tokens.access_token;
  idToken = tokens.id_token ?? "";
  refreshToken = tokens.refresh_token ?? "";
});
afterAll(async () => {
  await stopAll();
  bait.close();
});

const baitUrl = () => `http://127.0.0.1:${(bait.address() as AddressInfo).port}/keys`;

/** A token with the claims of a good one, but for changes, signed with the provider's key or another one. */
async function forge(
  claims: object = {},
  header: object = {},
  secret: object = key,
  alg = "RS256",
): Promise<string> {
  const payload = JSON.stringify({ ...decodeJwt(good), ...claims });
  return new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg, typ: "at+jwt", kid: key.kid, ...header } as never)
    .sign(secret instanceof Uint8Array ? secret : await importJWK(secret as never, alg));
}

async function introspect(token: string): Promise<unknown> {
  return client.tokenIntrospection(web, token);
}

const evilKey = () => ({ ...evil.privateKey.export({ format: "jwk" }), alg: "RS256" });
const publicJwk = () => ({ kty: key.kty, n: key.n, e: key.e });
const publicPem = () =>
  createPublicKey({ key: publicJwk() as never, format: "jwk" }).export({
    type: "spki",
    format: "pem",
  });

const now = () => Math.floor(Date.now() / 1000);
const unsecured = (alg: string) => {
  const header = Buffer.from(JSON.stringify({ alg, typ: "at+jwt", kid: key.kid })).toString(
    "base64url",
  );
  return `${header}.${good.split(".")[1]}.`;
};

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Another text with the same bytes: of the last of 342 characters four bits count. */
const withOtherUnusedBits = (token: string) =>
  token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) ?? "") ^ 1];

const TOKENS: readonly [string, () => string | Promise<string>][] = [
  ["16 alg none", () => unsecured("none")],
  ["16 alg None", () => unsecured("None")],
  ["16 alg NONE", () => unsecured("NONE")],
  ["16 no algorithm and no signature", () => new UnsecuredJWT(decodeJwt(good)).encode()],
  ["17 HS256 with the public PEM", () => forge({}, {}, Buffer.from(publicPem()), "HS256")],
  [
    "17 HS256 with the secret of the client",
    () => forge({}, {}, Buffer.from(CONSOLE.secret ?? ""), "HS256"),
  ],
  ["18 PS256 with the right key", () => forge({}, {}, { ...key, alg: "PS256" }, "PS256")],
  ["18 RS512 with the right key", () => forge({}, {}, { ...key, alg: "RS512" }, "RS512")],
  [
    "19 an embedded jwk",
    () => forge({}, { jwk: evil.publicKey.export({ format: "jwk" }) }, evilKey()),
  ],
  ["19 a jku", () => forge({}, { jku: baitUrl(), kid: "evil" }, evilKey())],
  ["19 an x5u", () => forge({}, { x5u: baitUrl() }, evilKey())],
  ["20 a kid that is a path", () => forge({}, { kid: "../../etc/passwd" }, evilKey())],
  ["20 a kid that is SQL", () => forge({}, { kid: "' or 1=1 --" }, evilKey())],
  ["20 the kid __proto__", () => forge({}, { kid: "__proto__" }, evilKey())],
  ["20 a kid that is a number", () => forge({}, { kid: 0 }, evilKey())],
  ["20 no kid", () => forge({}, { kid: undefined })],
  ["22 no exp", () => forge({ exp: undefined })],
  ["22 an exp that is text", () => forge({ exp: String(now() + 300) })],
  ["22 an exp beyond all numbers", () => forge({ exp: 1e308, iat: "x" })],
  ["22 an exp of this moment", () => forge({ exp: now() })],
  ["23 an issuer with a slash", () => forge({ iss: `${iam.issuer}/` })],
  ["23 an issuer in upper case", () => forge({ iss: iam.issuer.toUpperCase() })],
  ["23 no issuer", () => forge({ iss: undefined })],
  ["23 a nested audience", () => forge({ aud: ["x", ["y"]] })],
  ["24 an ID token", () => idToken],
  ["24 the type JWT", () => forge({}, { typ: "JWT" })],
  ["24 the type logout+jwt", () => forge({}, { typ: "logout+jwt" })],
  ["25 claims of another client", () => forge({ client_id: KEYED.id })],
  ["25 no sub", () => forge({ sub: undefined })],
  ["25 a sub that is a number", () => forge({ sub: 0 })],
  ["25 no jti", () => forge({ jti: undefined })],
  ["27 white space at the end", () => `${good} `],
  ["27 a line break within", () => good.replace(".", ".\n")],
  ["27 padding", () => `${good}==`],
  ["27 other unused bits of base64", () => withOtherUnusedBits(good)],
  ["27 a fourth part", () => `${good}.`],
  ["28 a prefix", () => `Bearer ${good}`],
];

test.each(TOKENS)("hostile token %s: introspection says nothing of it", async (_, make) => {
  expect(await introspect(await make())).toEqual({ active: false });
});

test("the tokens that these differ from are active", async () => {
  expect(await introspect(good)).toMatchObject({ active: true });
  expect(await introspect(await forge())).toMatchObject({ active: true });
  expect(decodeProtectedHeader(good)).toEqual({ alg: "RS256", typ: "at+jwt", kid: key.kid });
});

test("19 nothing that a token names is fetched", () => {
  expect(fetched).toBe(0);
});

test("21 a flood of unknown kids is answered, and the next good token too", async () => {
  const flood = await Promise.all(
    Array.from({ length: 200 }, () => forge({}, { kid: randomUUID() }, evilKey())),
  );
  const answers = await Promise.all(flood.map(introspect));
  expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
    new Set(['{"active":false}']),
  );
  expect(await introspect(good)).toMatchObject({ active: true });
});

test("24 a refresh token is not an access token, and an access token is not a refresh token", async () => {
  await expect(client.refreshTokenGrant(web, good)).rejects.toMatchObject({
    error: "invalid_grant",
  });
  await expect(client.refreshTokenGrant(web, idToken)).rejects.toMatchObject({
    error: "invalid_grant",
  });
  expect(await introspect(refreshToken)).not.toHaveProperty("token_type");
});

test("26 a token is active until it is revoked, and from then on no longer", async () => {
  const { access_token } = await logIn(web, new Browser(iam.origin));
  for (let count = 0; count < 3; count++) {
    expect(await introspect(access_token)).toMatchObject({ active: true });
  }
  await client.tokenRevocation(web, access_token);
  expect(await introspect(access_token)).toEqual({ active: false });
});

test("26 the token of another provider with the same client and user is not active", async () => {
  const other = await startProvider();
  const tokens = await logIn(await other.configure(CONSOLE), new Browser(other.origin));
  expect(await introspect(tokens.access_token)).toEqual({ active: false });
  await other.stop();
});

test("28 a token in the query, twice or of a megabyte is not read", async () => {
  const headers = {
    authorization: basicOf(CONSOLE),
    "content-type": "application/x-www-form-urlencoded",
  };
  const post = (query: string, body: string) =>
    fetch(`${iam.issuer}/token/introspection${query}`, { method: "POST", headers, body });
  const answers = [
    await post(`?token=${good}`, ""),
    await post("", `token=${good}&token=${good}`),
    await post("", `token=${"a.b.c".repeat(250_000)}`),
  ];
  for (const answer of answers) {
    const text = await answer.text();
    expect(answer.status, text).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(text).not.toContain('"active":true');
  }
});

test.each([
  [
    "in lower case",
    `basic ${Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64")}`,
    true,
  ],
  [
    "with two spaces",
    `Basic  ${Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64")}`,
    false,
  ],
  ["without a secret", basicOf({ id: CONSOLE.id }), false],
  ["with a longer secret", basicOf({ id: CONSOLE.id, secret: `${CONSOLE.secret}x` }), false],
  ["that is not base64", "Basic %%%", false],
  ["as Bearer", `Bearer ${randomBytes(20).toString("hex")}`, false],
])("28 the authentication of a client %s", async (_, authorization, isGood) => {
  const response = await fetch(`${iam.issuer}/token/introspection`, {
    method: "POST",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: `token=${good}`,
  });
  const text = await response.text();
  if (isGood) expect([response.status, JSON.parse(text).active]).toEqual([200, true]);
  else {
    expect(response.status, text).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  }
});

describe("the assertion of a client", () => {
  async function assertion(
    claims: object = {},
    header: object = {},
    secret?: object,
    alg = "ES256",
  ) {
    const payload = {
      iss: KEYED.id,
      sub: KEYED.id,
      aud: iam.issuer,
      jti: randomUUID(),
      iat: now(),
      exp: now() + 60,
      ...claims,
    };
    const given = secret ?? { ...pair.privateKey.export({ format: "jwk" }), alg };
    return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
      .setProtectedHeader({ alg, kid: "1", ...header } as never)
      .sign(given instanceof Uint8Array ? given : await importJWK(given as never, alg));
  }

  /** Signed over its claims as they are (RFC 7797), though sent in base64url. */
  async function unencoded(): Promise<string> {
    const claims = (await assertion()).split(".")[1] ?? "";
    const header = { alg: "ES256", kid: "1", crit: ["b64"], b64: false };
    const head = Buffer.from(JSON.stringify(header)).toString("base64url");
    const signature = sign("sha256", Buffer.from(`${head}.${claims}`), {
      key: pair.privateKey,
      dsaEncoding: "ieee-p1363",
    });
    return `${head}.${claims}.${signature.toString("base64url")}`;
  }

  function present(token: string): Promise<Response> {
    return fetch(`${iam.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: KEYED.id,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: token,
      }),
    });
  }

  test("is accepted as it should be", async () => {
    expect((await present(await assertion())).status).toBe(200);
    expect((await present(await assertion({ exp: now() + 3600 }))).status).toBe(200);
    expect((await present(await assertion({ aud: [iam.issuer] }))).status).toBe(200);
    expect((await present(await assertion({ iat: undefined }))).status).toBe(200);
    expect((await present(await assertion({ iat: now() + 30 }))).status).toBe(200);
  });

  test.each([
    ["16 alg none", async () => new UnsecuredJWT(decodeJwt(await assertion())).encode()],
    [
      "17 HS256 with the public key",
      () =>
        assertion(
          {},
          {},
          Buffer.from(pair.publicKey.export({ type: "spki", format: "pem" })),
          "HS256",
        ),
    ],
    [
      "19 an embedded jwk",
      () => assertion({}, { jwk: evil.publicKey.export({ format: "jwk" }) }, evilKey(), "RS256"),
    ],
    ["19 a jku", () => assertion({}, { jku: baitUrl(), kid: "2" }, evilKey(), "RS256")],
    ["20 a kid that is a path", () => assertion({}, { kid: "../1" }, evilKey(), "RS256")],
    ["22 no exp", () => assertion({ exp: undefined })],
    ["22 an exp that is text", () => assertion({ exp: "never" })],
    ["22 an exp that has passed", () => assertion({ exp: now() - 120 })],
    ["22 an exp in two hours", () => assertion({ exp: now() + 7200 })],
    ["22 an exp that no database can store", () => assertion({ exp: 1e300 })],
    ["22 an nbf to come", () => assertion({ nbf: now() + 120 })],
    ["22 an iat to come", () => assertion({ iat: now() + 3000, exp: now() + 3600 })],
    ["22 an iat that is text", () => assertion({ iat: "now" })],
    ["21 a crit with b64", () => assertion({}, { crit: ["b64"], b64: true })],
    ["23 no audience", () => assertion({ aud: undefined })],
    ["23 another audience", () => assertion({ aud: "https://evil.example.com" })],
    ["23 a nested audience", () => assertion({ aud: [[iam.issuer]] })],
    ["23 an audience with a slash", () => assertion({ aud: `${iam.issuer}/` })],
    ["23 a second audience", () => assertion({ aud: [iam.issuer, "https://evil.example.com"] })],
    ["23 the audience twice", () => assertion({ aud: [iam.issuer, iam.issuer] })],
    ["23 an empty list of audiences", () => assertion({ aud: [] })],
    ["23 another issuer", () => assertion({ iss: CONSOLE.id })],
    ["24 an access token", () => good],
    ["25 another subject", () => assertion({ sub: CONSOLE.id })],
    ["26 no jti", () => assertion({ jti: undefined })],
    ["21 a crit with b64 off", unencoded],
    ["28 a megabyte", async () => `${await assertion()}${"a".repeat(900_000)}`],
  ] as const)("is refused: %s", async (_, make) => {
    const response = await present(await make());
    const text = await response.text();
    expect(response.status, text).toBeGreaterThanOrEqual(400);
    expect(response.status, text).toBeLessThan(500);
    expect(text).not.toContain("access_token");
    expect(fetched).toBe(0);
  });
});
