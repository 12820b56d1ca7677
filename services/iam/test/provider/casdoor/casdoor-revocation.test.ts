import { decodeJwt } from "jose";
import type { ServiceDatabase } from "svc-access/database";
import { createGrpcClient } from "svc-access/runtime";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { IAMAuthService, TokenKind } from "../../../gen/svc/iam/v1/auth_pb.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { ALICE, IamWithCasdoor } from "../../support/casdoor/iam-with-casdoor.ts";
import { APPLICATION, failed } from "../../support/casdoor/stand-in-casdoor.ts";
import { INTERNAL_TOKEN } from "../../support/iam-service.ts";

let it: IamWithCasdoor;
beforeAll(async () => {
  it = await IamWithCasdoor.start();
});
afterAll(() => it.stop());
afterEach(() => it.reset());

const deletions = () => it.casdoor.requests.filter((one) => one === "POST /api/delete-token");

test.each([
  ["text", "not a token"],
  [
    "an unsigned token",
    `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"jti":"admin/x"}').toString("base64url")}.`,
  ],
])("revoking %s ends nothing, and is not an error", async (_, token) => {
  const before = deletions().length;
  expect((await it.revoke(token)).status).toBe(200);
  expect(deletions()).toHaveLength(before);
});

test("a token that another key signed ends no genuine one with its id", async () => {
  const { accessToken } = await it.logIn();
  it.casdoor.oauth.claims = { jti: decodeJwt(accessToken).jti };
  it.casdoor.oauth.signer = it.casdoor.foreignKey;
  await it.exchange(await it.callback());
  const [forged] = [...it.casdoor.oauth.records.values()].slice(-1);
  expect((await it.revoke(forged?.accessToken ?? "")).status).toBe(200);
  expect((await it.me(accessToken)).status).toBe(200);
});

test("a token without an id cannot be ended, nor does it end others without", async () => {
  it.casdoor.oauth.claims = { jti: "" };
  const { accessToken } = await it.logIn();
  const { accessToken: other } = await it.logIn();
  expect((await it.revoke(accessToken)).body.code).toBe("FAILED_PRECONDITION");
  expect((await it.me(other)).status).toBe(200);
});

test.each(["accessToken", "refreshToken"] as const)(
  "revoking the %s ends both, at services and at Casdoor [IDP-15]",
  async (kind) => {
    const tokens = await it.logIn();
    const { jti } = decodeJwt(tokens.accessToken);
    const target = it.iam.grpcTarget;
    const hub = createGrpcClient(IAMAuthService, { target, internalToken: INTERNAL_TOKEN });
    try {
      expect(await hub.verifyToken({ token: tokens.accessToken })).toMatchObject({
        active: true,
        issuer: it.casdoor.origin,
        audiences: [APPLICATION.clientId],
        tokenId: jti,
        principal: { subjectId: ALICE.id, organizationId: "acme", groups: ["acme/staff"] },
      });
      await hub.revokeToken({ token: tokens[kind], kind: TokenKind.UNSPECIFIED });
      // Once more is not an error.
      await hub.revokeToken({ token: tokens[kind], kind: TokenKind.UNSPECIFIED });
      const verified = await hub.verifyToken({ token: tokens.accessToken });
      expect(verified).toMatchObject({ active: false, reason: "revoked" });
    } finally {
      await hub.close();
    }
    await expect
      .poll(async () => (await it.me(tokens.accessToken)).status, {
        message: "the access token is refused after the revocation",
      })
      .toBe(401);
    expect((await it.refresh(tokens.refreshToken)).body.code).toBe("INVALID_ARGUMENT");
    expect([...it.casdoor.oauth.records.keys()]).not.toContain(`${jti}`.replace("admin/", ""));
  },
);

test("a token that Casdoor does not end has ended at services, and the caller gets an error [IDP-15]", async () => {
  const { accessToken, refreshToken } = await it.logIn();
  it.casdoor.intercept = (request, response) => {
    if (request.url !== "/api/delete-token") return false;
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(failed("Unauthorized operation").json));
    return true;
  };
  const before = deletions().length;
  expect((await it.revoke(accessToken)).body.code).toBe("UNAVAILABLE");
  expect(deletions()).toHaveLength(before + 1);
  await expect
    .poll(async () => (await it.me(accessToken)).status, {
      message: "the access token is refused though Casdoor did not end it",
    })
    .toBe(401);
  expect((await it.refresh(refreshToken)).body.code).toBe("INVALID_ARGUMENT");
});

test.each([1e300, 253_402_300_799])("a refresh token until %d ends, too", async (exp) => {
  const { accessToken } = await it.logIn();
  it.casdoor.oauth.claims = { jti: decodeJwt(accessToken).jti, exp, tokenType: "refresh-token" };
  await it.exchange(await it.callback());
  const [record] = [...it.casdoor.oauth.records.values()].slice(-1);
  expect((await it.revoke(record?.refreshToken ?? "")).status).toBe(200);
  await expect
    .poll(async () => (await it.me(accessToken)).status, {
      message: "the access token is refused after the revocation",
    })
    .toBe(401);
});

test("a revocation is kept as long as the token is accepted", async () => {
  const { accessToken } = await it.logIn();
  await it.revoke(accessToken);
  const { jti = "", exp = 0 } = decodeJwt(accessToken);
  const { kysely } = it.iam.options.database as ServiceDatabase<IamTables>;
  const row = await kysely
    .selectFrom("iam_revocations")
    .select("keep_until")
    .where("value", "=", jti)
    .executeTakeFirstOrThrow();
  const skew = 60_000;
  expect(Number(row.keep_until)).toBeGreaterThanOrEqual(exp * 1000 + skew);
});
