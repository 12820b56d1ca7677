/** RevokeToken with an OpenID provider elsewhere: at services, and at the provider. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import type { ServiceDatabase } from "svc-access/database";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { AS_HUB, type IamService, startIam } from "../../support/iam-service.ts";

const CLIENT = { id: randomUUID(), secret: "the secret of the client" };
const { privateKey, publicKey } = await generateKeyPair("ES256");
const foreign = await generateKeyPair("ES256");

/** What the provider was asked to revoke and to refresh. */
const asked = { revoke: [] as string[], token: [] as string[] };
type Answer = (response: ServerResponse) => void;
const sends = (status: number, body: object): Answer => {
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(body));
  };
};
const REVOKED = sends(200, {});
let onRevoke = REVOKED;

const openid = createServer((request, response) => void answer(request, response));
const origin = () => `http://127.0.0.1:${(openid.address() as AddressInfo).port}`;

/** The first path is of a provider that revokes, the second of one without that endpoint. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, issuer = "", path = ""] = /^\/(full|bare)\/(.*)$/.exec(request.url ?? "") ?? [];
  const at = `${origin()}/${issuer}`;
  if (path === "revoke" || path === "token") {
    const form = new URLSearchParams(await text(request));
    asked[path].push(form.get(path === "revoke" ? "token" : "refresh_token") ?? "");
    if (path === "revoke") return onRevoke(response);
    return sends(200, { access_token: "fresh", token_type: "bearer" })(response);
  }
  if (path === "jwks") {
    const key = { ...(await exportJWK(publicKey)), alg: "ES256", use: "sig", kid: "1" };
    return sends(200, { keys: [key] })(response);
  }
  sends(200, {
    issuer: at,
    authorization_endpoint: `${at}/auth`,
    token_endpoint: `${at}/token`,
    jwks_uri: `${at}/jwks`,
    response_types_supported: ["code"],
    ...(issuer === "full" ? { revocation_endpoint: `${at}/revoke` } : {}),
  })(response);
}

let full: IamService;
let bare: IamService;
const start = (issuer: string) =>
  startIam({
    logLevel: "silent",
    authn: { provider: "oidc" },
    oidc: { issuer: `${origin()}/${issuer}`, audience: [CLIENT.id] },
    login: { client_id: CLIENT.id, client_secret: CLIENT.secret },
  });
beforeAll(async () => {
  await new Promise<void>((resolve) => openid.listen(0, "127.0.0.1", resolve));
  full = await start("full");
  bare = await start("bare");
});
afterAll(async () => {
  await full?.stop();
  await bare?.stop();
  openid.close();
  openid.closeAllConnections();
});
afterEach(() => {
  onRevoke = REVOKED;
  asked.revoke.length = 0;
  asked.token.length = 0;
});

/** A token that the provider issued. */
async function issue(issuer: "full" | "bare", claims: object = {}, key = privateKey) {
  const iss = `${origin()}/${issuer}`;
  const all = { iss, aud: CLIENT.id, sub: "jane", jti: randomUUID(), owner: "acme", ...claims };
  return new SignJWT(all)
    .setProtectedHeader({ alg: "ES256", kid: "1", typ: "at+jwt" })
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(key);
}

const REFRESH = { tokenType: "refresh-token" };
const revoke = (iam: IamService, token: string) =>
  iam.call("POST", "/v1/iam/tokens:revoke", { token }, AS_HUB);
const refresh = (iam: IamService, refreshToken: string) =>
  iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB);
const statusOf = async (iam: IamService, token: string) =>
  (await iam.call("GET", "/v1/iam/me", undefined, { Authorization: `Bearer ${token}` })).status;

/** The ids in the feed that services follow. */
async function feedOf({ options }: IamService): Promise<readonly string[]> {
  const { kysely } = options.database as ServiceDatabase<IamTables>;
  const rows = await kysely
    .selectFrom("iam_revocations")
    .select("value")
    .where("kind", "=", "jti")
    .execute();
  return rows.map(({ value }) => value);
}

test("a token that another key signed does not end the genuine one with its id", async () => {
  const genuine = await issue("full");
  const { jti } = decodeJwt(genuine);
  const forged = await issue("full", { jti }, foreign.privateKey);
  expect((await revoke(full, forged)).status).toBe(200);
  expect(await statusOf(full, genuine)).toBe(200);
  expect(await feedOf(full)).not.toContain(jti);
});

test("an access token without an id ends at the provider only, and the caller gets an error [IDP-15]", async () => {
  for (const jti of [undefined, ""]) {
    const token = await issue("full", { jti });
    const { body } = await revoke(full, token);
    expect(body).toMatchObject({
      code: "FAILED_PRECONDITION",
      message: "the token has no id (jti): services accept it until it expires",
    });
    expect(asked.revoke).toContain(token);
  }
  const token = await issue("bare", { jti: undefined });
  expect((await revoke(bare, token)).body.code).toBe("UNIMPLEMENTED");
});

test("a refresh token without an id ends at the provider, where it counts", async () => {
  const token = await issue("full", { jti: undefined, ...REFRESH });
  expect((await revoke(full, token)).status).toBe(200);
  expect(asked.revoke).toEqual([token]);
});

test("an opaque token ends at the provider, or not at all", async () => {
  const before = await feedOf(full);
  expect((await revoke(full, "opaque")).status).toBe(200);
  expect(asked.revoke).toEqual(["opaque"]);
  expect(await feedOf(full)).toEqual(before);
  expect((await revoke(bare, "opaque")).body.code).toBe("UNIMPLEMENTED");
  onRevoke = sends(400, { error: "unsupported_token_type" });
  expect((await revoke(full, "opaque")).body.code).toBe("INVALID_ARGUMENT");
});

test("a revoked access token is refused by services before it expires [IDP-15]", async () => {
  const [token, other] = [await issue("full"), await issue("full")];
  expect(await statusOf(full, token)).toBe(200);
  expect((await revoke(full, token)).status).toBe(200);
  // Once more is not an error.
  expect((await revoke(full, token)).status).toBe(200);
  expect(asked.revoke).toEqual([token, token]);
  expect(await feedOf(full)).toContain(decodeJwt(token).jti);
  await expect
    .poll(() => statusOf(full, token), { message: "the revoked token is refused" })
    .toBe(401);
  expect(await statusOf(full, other)).toBe(200);
});

test("a revoked refresh token is refused, also where the provider was not reached [IDP-15]", async () => {
  const token = await issue("full", REFRESH);
  expect((await refresh(full, token)).status).toBe(200);
  onRevoke = sends(503, {});
  expect((await revoke(full, token)).body.code).toBe("UNAVAILABLE");
  asked.token.length = 0;
  expect((await refresh(full, token)).body).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "the identity provider does not accept the code or token",
  });
  expect(asked.token).toEqual([]);
});

test.each<[string, () => IamService, "full" | "bare", Answer]>([
  ["has no revocation endpoint", () => bare, "bare", REVOKED],
  [
    "does not revoke access tokens",
    () => full,
    "full",
    sends(400, { error: "unsupported_token_type" }),
  ],
])("a token of a provider that %s ends at services", async (_, service, issuer, revocation) => {
  onRevoke = revocation;
  const token = await issue(issuer);
  expect((await revoke(service(), token)).status).toBe(200);
  await expect
    .poll(() => statusOf(service(), token), {
      message: "the token is refused though its provider did not end it",
    })
    .toBe(401);
});

test("a token that the provider does not end has ended at services, and the caller gets an error", async () => {
  onRevoke = (response) => response.destroy();
  const token = await issue("full");
  expect((await revoke(full, token)).body.code).toBe("UNAVAILABLE");
  await expect
    .poll(() => statusOf(full, token), {
      message: "the token is refused though its provider did not end it",
    })
    .toBe(401);
});

test("who repeats a revocation ends nothing else [IDP-15]", async () => {
  const sub = "repeating";
  const [token, kept] = [await issue("full", { sub }), await issue("full", { sub })];
  const before = (await feedOf(full)).length;
  for (let at = 0; at < 25; at++) expect((await revoke(full, token)).status).toBe(200);
  expect((await feedOf(full)).length - before).toBe(1);
  await expect
    .poll(() => statusOf(full, token), { message: "the revoked token is refused" })
    .toBe(401);
  expect(await statusOf(full, kept)).toBe(200);
  const refreshed = await refresh(full, await issue("full", { sub, ...REFRESH }));
  expect(refreshed.status).toBe(200);
});

test("somebody who ends tokens without end takes few places among the revocations [IDP-15]", async () => {
  const before = (await feedOf(full)).length;
  const sub = "restless";
  const kept = await issue("full", { sub });
  for (let at = 0; at < 25; at++) {
    expect((await revoke(full, await issue("full", { sub }))).status).toBe(200);
  }
  expect((await feedOf(full)).length - before).toBe(20);
  await expect
    .poll(() => statusOf(full, kept), { message: "all tokens of the subject are refused" })
    .toBe(401);
  expect(await statusOf(full, await issue("full", { sub: "another" }))).toBe(200);
  const refreshed = await refresh(full, await issue("full", { sub, ...REFRESH }));
  expect(refreshed.body.code).toBe("INVALID_ARGUMENT");
});
