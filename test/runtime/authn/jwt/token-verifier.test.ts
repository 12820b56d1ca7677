import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TokenRefusal } from "../../../../src/runtime/authn/jwt/bearer-token.ts";
import {
  MemoryRevocationList,
  type RevocationList,
} from "../../../../src/runtime/authn/jwt/revocation-list.ts";
import {
  createTokenVerifier,
  type TokenVerifierOptions,
} from "../../../../src/runtime/authn/jwt/token-verifier.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { StartUpError } from "../../../../src/runtime/error/start-up-error.ts";
import { configOf, recordLog } from "../calls.ts";
import { JwtWorld, SHARED_KEY } from "./jwt-world.ts";
import { ABSENT, encode, rsaKey, signToken, signWithSecret } from "./tokens.ts";

let world: JwtWorld;
beforeAll(async () => {
  world = await JwtWorld.create({ oidc: { allowed_owners: ["acme"] } });
});
afterAll(() => world.close());

const own = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  world.token({ owner: "acme", ...changes }, header);
const claims = (changes: Record<string, unknown> = {}) =>
  world.claims({ owner: "acme", ...changes });
const text = () => JSON.stringify(claims());
const now = () => world.seconds;
const pem = () => SHARED_KEY.publicKey.export({ format: "pem", type: "spki" }) as string;
const stranger = rsaKey(SHARED_KEY.id);

const REFUSED: Record<string, [reason: TokenRefusal, token: () => unknown]> = {
  "alg none": ["invalid", () => `${encode({ alg: "none" })}.${encode(claims())}.`],
  "HS256 with the public key": ["invalid", () => signWithSecret(pem(), claims(), {})],
  "HS256 with the public key, by its kid": [
    "invalid",
    () => signWithSecret(pem(), claims(), { kid: SHARED_KEY.id }),
  ],
  "an unknown kid": ["invalid", () => own({}, { kid: "key-2" })],
  "another's key with the right kid": ["invalid", () => signToken(stranger, claims())],
  "another's key, expired and revoked besides": [
    "invalid",
    () => signToken(stranger, claims({ exp: now() - 999, iat: now() - 9999, jti: "revoked" })),
  ],
  crit: ["invalid", () => own({}, { crit: ["exp"] })],
  "a token in a token": ["invalid", () => own({}, { cty: "JWT" })],
  "an embedded key": ["invalid", () => signToken(stranger, claims(), { jwk: stranger.jwk })],
  "1 MB": ["invalid", () => own({ x: "x".repeat(1_000_000) })],
  "16 KiB and one character": ["invalid", () => "x".repeat(16 * 1024 + 1)],
  "claims twice": ["invalid", () => signToken(SHARED_KEY, text().replace("{", '{"sub":"admin",'))],
  "claims twice, one escaped": [
    "invalid",
    () => signToken(SHARED_KEY, text().replace("{", '{"s\\u0075b":"admin",')),
  ],
  "exp a text": ["invalid", () => own({ exp: String(now() + 60) })],
  "exp absent": ["invalid", () => own({ exp: ABSENT })],
  "exp infinite": [
    "invalid",
    () => signToken(SHARED_KEY, text().replace(/"exp":\d+/, '"exp":1e999')),
  ],
  "sub a wildcard": ["invalid", () => own({ sub: "*" })],
  nothing: ["invalid", () => ""],
  "two dots": ["invalid", () => ".."],
  "a prefix": ["invalid", () => `Bearer ${own()}`],
  "a line end": ["invalid", () => `${own()}\n`],
  padding: ["invalid", () => `${own()}=`],
  "a second token after it": ["invalid", () => `${own()},${own()}`],
  "five parts": ["invalid", () => `${own()}.x.y`],
  "no text": ["invalid", () => undefined],
  "a list": ["invalid", () => [own()]],
  expired: ["expired", () => own({ exp: now() - 60, iat: now() - 100 })],
  "not valid yet": ["not_yet_valid", () => own({ nbf: now() + 61 })],
  "issued in the future": ["not_yet_valid", () => own({ iat: now() + 61 })],
  "another issuer": ["wrong_issuer", () => own({ iss: "https://evil.example" })],
  "another audience": ["wrong_audience", () => own({ aud: "other" })],
  "another owner": ["wrong_owner", () => own({ owner: "evil" })],
  "no owner": ["wrong_owner", () => own({ owner: ABSENT })],
  "an ID token": ["not_an_access_token", () => own({ nonce: "n" })],
  "a refresh token": ["not_an_access_token", () => own({ tokenType: "refresh-token" })],
  "a logout token": ["not_an_access_token", () => own({ events: {} }, { typ: "at+jwt" })],
};

test.each(Object.entries(REFUSED))("not active: %s", async (_, [reason, token]) => {
  const result = await world.verifier.verify(token() as string);
  expect(result).toEqual({ active: false, reason });
});

test("what is known of an active token", async () => {
  const token = own({ jti: "t1", sid: "s1", aud: ["client", "other"], scope: "openid" });
  const active = {
    active: true,
    principal: expect.objectContaining({
      subjectId: "alice",
      organizationId: "acme",
      scopes: ["openid"],
      source: "jwt",
    }),
    issuer: world.issuer,
    audiences: ["client", "other"],
    tokenId: "t1",
    sessionId: "s1",
    issuedAt: world.time - 10_000,
    expiresAt: world.time + 3_600_000,
  };
  expect(await world.verifier.verify(token)).toEqual(active);
  expect(await world.verifier.verify(token)).toEqual(active);
  expect(await world.verifier.verify(own())).toMatchObject({
    audiences: ["client"],
    tokenId: undefined,
    sessionId: undefined,
  });
});

test("a caller cannot change what the next one gets", async () => {
  const token = own({ groups: ["dev"], aud: ["client"] });
  const first = await world.verifier.verify(token);
  if (!first.active) throw new Error("not active");
  for (const shared of [first.principal, first.principal.groups, first.audiences]) {
    expect(Object.isFrozen(shared)).toBe(true);
  }
});

describe("a token that was verified before", () => {
  test("expires", async () => {
    const later = await JwtWorld.create();
    const token = later.token({ exp: later.seconds + 1 });
    expect(await later.verifier.verify(token)).toMatchObject({ active: true });
    later.time += 61_000;
    expect(await later.verifier.verify(token)).toEqual({ active: false, reason: "expired" });
    await later.close();
  });

  test("is revoked by each identifier that the list receives", async () => {
    const revocations = new MemoryRevocationList(10, () => world.time);
    const revoked = await JwtWorld.create({}, { revocations });
    const tokens = [revoked.token({ jti: "t1" }), revoked.token({ sub: "bob" })];
    for (const token of tokens) {
      expect(await revoked.verifier.verify(token)).toMatchObject({ active: true });
    }
    revocations.revokeToken("t1", world.time + 1);
    revocations.revokeSubject("bob", world.time + 1);
    for (const token of tokens) {
      expect(await revoked.verifier.verify(token)).toEqual({ active: false, reason: "revoked" });
    }
    await revoked.close();
  });
});

describe("what cannot be known now is UNAVAILABLE", () => {
  test("the keys", async () => {
    const lost = await JwtWorld.create();
    const token = lost.token();
    await lost.close();
    await expect(lost.verifier.verify(token)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await lost.verifier.verify("a.b.c")).toEqual({ active: false, reason: "invalid" });
  });

  test("the revocations, for a genuine token only", async () => {
    const revocations: RevocationList = {
      isRevoked: () => {
        throw new ServiceError("UNAVAILABLE", "lost");
      },
    };
    const lost = await JwtWorld.create({}, { revocations });
    for (let again = 0; again < 2; again++) {
      await expect(lost.verifier.verify(lost.token())).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: "it is not known now whether the token was revoked",
      });
    }
    const forged = signToken(rsaKey(SHARED_KEY.id), lost.claims());
    expect(await lost.verifier.verify(forged)).toEqual({ active: false, reason: "invalid" });
    await lost.close();
  });

  test("another error of the list is not hidden", async () => {
    const revocations: RevocationList = {
      isRevoked: () => {
        throw new RangeError("a fault");
      },
    };
    const faulty = await JwtWorld.create({}, { revocations });
    await expect(faulty.verifier.verify(faulty.token())).rejects.toThrow(RangeError);
    await faulty.close();
  });
});

describe("a token of IAM's own issuer", () => {
  let iam: JwtWorld;
  beforeAll(async () => {
    iam = await JwtWorld.create({}, {}, undefined, "/v1/iam/oidc");
  });
  afterAll(() => iam.close());

  test("is an access token by its type", async () => {
    for (const typ of ["at+jwt", "application/at+jwt"]) {
      expect(await iam.verifier.verify(iam.token({}, { typ }))).toMatchObject({ active: true });
    }
  });

  test.each<[string, object, object]>([
    ["an ID token of a device, which has no nonce", {}, { typ: undefined }],
    ["the type JWT", {}, { typ: "JWT" }],
    ["a claim that says so only", { token_use: "access" }, { typ: "JWT" }],
  ])("is refused with %s [AUTHN-5]", async (_, claims, header) => {
    const token = iam.token({ ...claims }, { ...header });
    expect(await iam.verifier.verify(token)).toEqual({
      active: false,
      reason: "not_an_access_token",
    });
    expect(await iam.outcome(token)).toContain("401");
  });
});

describe("keys of this process", () => {
  const issuer = "https://example.com/v1/iam/oidc";
  const config = configOf({
    mode: "gateway_trusted",
    gateway: { trusted_peers: ["10.1.2.0/24"] },
    oidc: { issuer, audience: ["client"] },
  });
  const { logger } = recordLog();
  const verifierOf = (keySet: () => Promise<unknown>) =>
    createTokenVerifier(config, {
      revocations: new MemoryRevocationList(),
      logger,
      keySet: keySet as TokenVerifierOptions["keySet"] & {},
      now: () => world.time,
    });
  const token = (key = SHARED_KEY) =>
    signToken(key, claims({ iss: issuer, subject_type: "service_account" }), { typ: "at+jwt" });

  test("are read instead of the provider's, and again for a new one", async () => {
    let keys: readonly object[] = [SHARED_KEY.jwk];
    let reads = 0;
    const verifier = verifierOf(async () => {
      reads++;
      return { keys };
    });
    expect(await verifier.verify(token())).toMatchObject({
      active: true,
      principal: { subjectType: "service_account" },
    });
    const next = rsaKey("key-2");
    keys = [SHARED_KEY.jwk, next.jwk];
    expect(await verifier.verify(token(next))).toMatchObject({ active: true });
    expect(reads).toBe(2);
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["no keys", {}],
    ["keys that are not a list", { keys: { 0: SHARED_KEY.jwk, length: 1 } }],
    ["too many", { keys: new Array(101).fill(SHARED_KEY.jwk) }],
  ])("that are %s are none", async (_, keySet) => {
    const verifier = verifierOf(async () => keySet);
    await expect(verifier.verify(token())).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("a private key verifies nothing", async () => {
    const jwk = { ...SHARED_KEY.privateKey.export({ format: "jwk" }), kid: SHARED_KEY.id };
    const verifier = verifierOf(async () => ({ keys: [jwk] }));
    expect(await verifier.verify(token())).toEqual({ active: false, reason: "invalid" });
  });
});

test("without a provider nothing can be verified", () => {
  const config = configOf({ mode: "disabled" }, { environment: "test" });
  const { logger } = recordLog();
  const revocations = new MemoryRevocationList();
  expect(() => createTokenVerifier(config, { revocations, logger })).toThrow(StartUpError);
});
