/** Service accounts that are made while svc-iam runs: their keys, and the tokens that they get. */
import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { decodeJwt, importJWK } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "../../support/browser-login.ts";
import { type IamService, LOGIN_CLIENT, startIam } from "../../support/iam-service.ts";
import { AccountCalls, must, OWN } from "./account-calls.ts";

let iam: IamService;
const calls = new AccountCalls(() => iam);
beforeAll(async () => {
  iam = await startIam({ oidc: { audience: [LOGIN_CLIENT, OWN] } });
});
afterAll(() => iam.stop());

/** `invalid_client`; openid-client hides the name where there is a challenge. */
const INVALID = { status: 401 };

/** Gets a token by an assertion. */
async function tokenOf(id: string, key: KeyObject, alg: string, kid?: string): Promise<string> {
  const imported = (await importJWK(key.export({ format: "jwk" }), alg)) as never;
  const named = kid === undefined ? imported : { key: imported, kid };
  const configuration = await calls.configure(id, client.PrivateKeyJwt(named));
  return (await client.clientCredentialsGrant(configuration)).access_token;
}

const addPublic = async (id: string, key: KeyObject, more: object = {}) => {
  const publicKey = JSON.stringify({ ...key.export({ format: "jwk" }), ...more });
  return must(await calls.call("POST", `/${id}/keys`, { publicKey })).key;
};

test("an account gets tokens with the secret of its key, which is shown once [IAM-31]", async () => {
  const id = await calls.make({ displayName: "Reporter" });
  await expect(calls.token(id, "a secret")).rejects.toMatchObject(INVALID);
  const { secret, keyId } = await calls.addSecret(id);
  expect(secret).toMatch(/^svcsa_[\w-]{43}$/);
  const token = await calls.token(id, secret);
  const claims = decodeJwt(token);
  expect(claims).toMatchObject({
    sub: id,
    id,
    aud: OWN,
    subject_type: "service_account",
    name: "Reporter",
    owner: "acme",
    exp: (claims.iat as number) + 300,
  });
  expect(await calls.use(token)).toBe(200);
  const listed = await calls.call("GET", `/${id}/keys`);
  expect(listed.body.keys).toMatchObject([{ id: keyId, kind: "SERVICE_ACCOUNT_KEY_KIND_SECRET" }]);
  expect(JSON.stringify(listed.body)).not.toContain(secret);
});

test("neither database nor audit has the secret of a key [IAM-31]", async () => {
  const { id, secret } = await calls.makeWithSecret();
  await calls.token(id, secret);
  const { kysely } = databaseOf(iam);
  const keys = await kysely.selectFrom("iam_service_account_keys").selectAll().execute();
  expect(keys.length).toBeGreaterThan(0);
  const events = await kysely
    .selectFrom("audit_events" as never)
    .selectAll()
    .execute();
  expect(events.length).toBeGreaterThan(0);
  expect(JSON.stringify([keys, events])).not.toContain(secret);
});

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });

test.each([
  ["RSA", "RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ["RSA", "PS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ["P-256", "ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
  ["Ed25519", "Ed25519", generateKeyPairSync("ed25519")],
] as const)("an account gets tokens with a key of %s, by %s [IAM-32]", async (_, alg, pair) => {
  const id = await calls.make();
  const { publicKey } = await addPublic(id, pair.publicKey);
  const token = await tokenOf(id, pair.privateKey, alg);
  expect(decodeJwt(token)).toMatchObject({ sub: id, aud: OWN });
  expect(await calls.use(token)).toBe(200);
  // The kid of a key without one is the id of the key.
  await tokenOf(id, pair.privateKey, alg, JSON.parse(publicKey).kid);
});

test("an assertion is refused that another key has signed, or that names another one [IAM-32]", async () => {
  const id = await calls.make();
  await addPublic(id, ec.publicKey, { kid: "mine" });
  await tokenOf(id, ec.privateKey, "ES256", "mine");
  await tokenOf(id, ec.privateKey, "ES256");
  await expect(tokenOf(id, other.privateKey, "ES256")).rejects.toMatchObject(INVALID);
  await expect(tokenOf(id, other.privateKey, "ES256", "mine")).rejects.toMatchObject(INVALID);
  await expect(tokenOf(id, ec.privateKey, "ES256", "other")).rejects.toMatchObject(INVALID);
  // Its own key does not let it be another account.
  const neighbour = await calls.make();
  await addPublic(neighbour, other.publicKey);
  await expect(tokenOf(neighbour, ec.privateKey, "ES256")).rejects.toMatchObject(INVALID);
});

test("a public key is registered once in an account, and others may have it [IAM-32]", async () => {
  const id = await calls.make();
  const key = await addPublic(id, ec.publicKey);
  const publicKey = ec.publicKey.export({ type: "spki", format: "pem" });
  const again = await calls.call("POST", `/${id}/keys`, { publicKey });
  expect(again).toMatchObject({ status: 409, body: { code: "ALREADY_EXISTS" } });
  expect((await calls.call("GET", `/${id}/keys`)).body.keys).toEqual([key]);
});

test.each([
  ["another one", (secret: string) => secret.replace(/.$/, (last) => (last === "A" ? "B" : "A"))],
  ["a longer one", (secret: string) => `${secret}A`],
  ["its start", (secret: string) => secret.slice(0, -1)],
  ["a long one", () => "x".repeat(6000)],
])("a secret that is %s is refused [IAM-31]", async (_, change) => {
  const { id, secret } = await calls.makeWithSecret();
  await expect(calls.token(id, change(secret))).rejects.toMatchObject(INVALID);
});

test("the hash of a secret is not a secret, and none is needed for a look at the client [IAM-31]", async () => {
  const { id, secret } = await calls.makeWithSecret();
  const { secret_hash } = await databaseOf(iam)
    .kysely.selectFrom("iam_service_account_keys")
    .selectAll()
    .where("account_id", "=", id)
    .executeTakeFirstOrThrow();
  await expect(calls.token(id, String(secret_hash))).rejects.toMatchObject(INVALID);
  const none = await calls.configure(id, client.None());
  await expect(client.clientCredentialsGrant(none)).rejects.toMatchObject(INVALID);
  const post = await calls.configure(id, client.ClientSecretPost(secret));
  await expect(client.clientCredentialsGrant(post)).rejects.toMatchObject(INVALID);
  const jwt = await calls.configure(id, client.ClientSecretJwt(secret));
  await expect(client.clientCredentialsGrant(jwt)).rejects.toMatchObject(INVALID);
  const asCode = `${iam.origin}/v1/iam/oidc/auth?client_id=${id}&response_type=code&redirect_uri=https://evil.example.com`;
  const answer = await fetch(asCode, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
});

test("keys of both kinds are rotated: tokens of the deleted one end, the others continue [IAM-33]", async () => {
  const { id, secret, keyId } = await calls.makeWithSecret();
  const first = await calls.token(id, secret);
  const next = await calls.addSecret(id);
  await addPublic(id, ec.publicKey);
  const [second, signed] = [
    await calls.token(id, next.secret),
    await tokenOf(id, ec.privateKey, "ES256"),
  ];
  // Both secrets and the pair of keys count side by side.
  const tokens = [first, second, signed, await calls.token(id, secret)];
  expect(await Promise.all(tokens.map((token) => calls.use(token)))).toEqual([200, 200, 200, 200]);

  must(await calls.call("DELETE", `/${id}/keys/${keyId}`));
  const after = await Promise.all(tokens.map((token) => calls.use(token)));
  expect(after).toEqual([401, 200, 200, 401]);
  await expect(calls.token(id, secret)).rejects.toMatchObject(INVALID);
  expect(await calls.use(await calls.token(id, next.secret))).toBe(200);
  const configuration = await calls.configure(id, client.ClientSecretBasic(next.secret));
  expect(await client.tokenIntrospection(configuration, first)).toEqual({ active: false });
  expect(await client.tokenIntrospection(configuration, second)).toMatchObject({ active: true });
  // A key is deleted once.
  expect((await calls.call("DELETE", `/${id}/keys/${keyId}`)).status).toBe(404);
});

test("a key of another account is not deleted [IAM-33]", async () => {
  const [one, another] = [await calls.makeWithSecret(), await calls.makeWithSecret()];
  expect((await calls.call("DELETE", `/${one.id}/keys/${another.keyId}`)).status).toBe(404);
  expect(await calls.use(await calls.token(another.id, another.secret))).toBe(200);
});

test("an account has at most ten keys [IAM-33]", async () => {
  const id = await calls.make();
  for (let count = 0; count < 10; count++) await calls.addSecret(id);
  const refused = await calls.call("POST", `/${id}/keys`, {});
  expect(refused).toMatchObject({ status: 412, body: { code: "FAILED_PRECONDITION" } });
  expect((await calls.call("GET", `/${id}/keys`)).body.keys).toHaveLength(10);
});

test("a key that has expired gets no tokens, and its last token ends with it [IAM-33]", async () => {
  const id = await calls.make();
  const past = { expireTime: new Date(Date.now() - 1000).toISOString() };
  expect((await calls.call("POST", `/${id}/keys`, past)).status).toBe(400);
  const expires = Date.now() + 100_000;
  const key = await calls.addSecret(id, { expireTime: new Date(expires).toISOString() });
  const claims = decodeJwt(await calls.token(id, key.secret));
  expect((claims.exp as number) * 1000).toBeLessThanOrEqual(expires);
  const { kysely } = databaseOf(iam);
  await kysely
    .updateTable("iam_service_account_keys")
    .set({ expire_time: Date.now() - 1 })
    .where("id", "=", key.keyId)
    .execute();
  await expect(calls.token(id, key.secret)).rejects.toMatchObject(INVALID);
  // It is shown until somebody deletes it.
  expect((await calls.call("GET", `/${id}/keys`)).body.keys).toHaveLength(1);
});

test("a disabled account gets no tokens, and those that it has end; enabled again it works at once [IAM-34]", async () => {
  const { id, secret } = await calls.makeWithSecret();
  const token = await calls.token(id, secret);
  const disabled = must(await calls.call("POST", `/${id}:disable`, {}));
  expect(disabled).toMatchObject({ id, disabled: true });
  expect(await calls.use(token)).toBe(401);
  await expect(calls.token(id, secret)).rejects.toMatchObject(INVALID);
  must(await calls.call("POST", `/${id}:enable`, {}));
  expect(await calls.use(await calls.token(id, secret))).toBe(200);
  expect(await calls.use(token)).toBe(401);
});

test("a deleted account gets no tokens, and those that it has end [IAM-34]", async () => {
  const { id, secret } = await calls.makeWithSecret();
  const token = await calls.token(id, secret);
  expect((await calls.call("DELETE", `/${id}`)).status).toBe(200);
  expect(await calls.use(token)).toBe(401);
  await expect(calls.token(id, secret)).rejects.toMatchObject(INVALID);
  expect((await calls.call("GET", `/${id}`)).status).toBe(404);
});

test("a token is for a service of the audience, or without one for the account [IAM-31]", async () => {
  const several = await calls.makeWithSecret({ audience: ["urn:acme:notes", OWN] });
  const configuration = await calls.configure(several.id, client.ClientSecretBasic(several.secret));
  const ask = async (resource?: string) => {
    const parameters = resource === undefined ? {} : { resource };
    return decodeJwt((await client.clientCredentialsGrant(configuration, parameters)).access_token)
      .aud;
  };
  expect(await ask()).toBe("urn:acme:notes");
  expect(await ask(OWN)).toBe(OWN);
  for (const other of ["urn:acme:other", "urn:svc-access:platform"])
    await expect(ask(other)).rejects.toMatchObject({ error: "invalid_target" });
  const none = await calls.makeWithSecret({ audience: [] });
  expect(decodeJwt(await calls.token(none.id, none.secret)).aud).toBe(none.id);
});

test("an account revokes one of its tokens, and the others continue [IAM-31]", async () => {
  const { id, secret } = await calls.makeWithSecret();
  const configuration = await calls.configure(id, client.ClientSecretBasic(secret));
  const [one, another] = [await calls.token(id, secret), await calls.token(id, secret)];
  await client.tokenRevocation(configuration, one);
  expect([await calls.use(one), await calls.use(another)]).toEqual([401, 200]);
});

test("a client id that nobody has is refused as a wrong secret is [IAM-31]", async () => {
  for (const id of [randomBytes(16).toString("hex"), "__proto__"]) {
    await expect(calls.token(id, "a secret")).rejects.toMatchObject(INVALID);
  }
  await expect(calls.token("a\0b", "a secret")).rejects.toMatchObject({ status: 400 });
});
