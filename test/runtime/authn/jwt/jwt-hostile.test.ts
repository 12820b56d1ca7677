import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JwtWorld, SHARED_KEY } from "./jwt-world.ts";
import { ABSENT, ecKey, encode, rsaKey, signToken, signWithSecret } from "./tokens.ts";

let world: JwtWorld;
const ec = ecKey("ec-1");
const ec512 = ecKey("ec-512", "ES512");
const longest = ecKey("k".repeat(256));
const bare = rsaKey("bare");
beforeAll(async () => {
  world = await JwtWorld.create({ oidc: { allowed_owners: [] } });
  const { alg: _alg, use: _use, ...withoutAlg } = bare.jwk;
  const secret = { kty: "oct", k: encode("a shared secret of the client"), kid: "oct-1" };
  const { jwk } = SHARED_KEY;
  world.server.keys = [jwk, ec.jwk, ec512.jwk, longest.jwk, withoutAlg, secret].concat({
    ...secret,
    alg: "HS256",
  });
});
afterAll(() => world.close());

const pem = () => SHARED_KEY.publicKey.export({ format: "pem", type: "spki" }) as string;
const now = () => world.seconds;

/** Tokens that must be refused, by the number of the list in `test/runtime/hostile/numbers.ts`. */
const REFUSED: Record<string, () => string> = {
  "16 alg none": () => `${encode({ alg: "none", typ: "JWT" })}.${encode(world.claims())}.`,
  "16 alg None": () => `${encode({ alg: "None" })}.${encode(world.claims())}.`,
  "16 alg NONE with a signature": () => world.token({}, { alg: "NONE" }),
  "16 alg absent": () => world.token({}, { alg: ABSENT }),
  "16 alg a list": () => world.token({}, { alg: ["RS256"] }),
  "17 HS256 with the public PEM": () =>
    signWithSecret(pem(), world.claims(), { kid: SHARED_KEY.id }),
  "17 HS256 with the public PEM, no kid": () => signWithSecret(pem(), world.claims(), {}),
  "17 HS256 with the DER": () =>
    signWithSecret(SHARED_KEY.publicKey.export({ format: "der", type: "spki" }), world.claims(), {
      kid: SHARED_KEY.id,
    }),
  "17 HS256 with the client secret": () =>
    signWithSecret("a shared secret of the client", world.claims(), { kid: "oct-1" }),
  "18 HS256 for a key without alg": () => signWithSecret(pem(), world.claims(), { kid: "bare" }),
  "18 RS512 for a key with alg RS256": () =>
    signToken({ ...SHARED_KEY, algorithm: "RS512" }, world.claims()),
  "18 ES256 named for an RSA key": () => world.token({}, { alg: "ES256" }),
  "18 PS256, which is not accepted": () => world.token({}, { alg: "PS256" }),
  "18 RS384, which is not accepted": () =>
    signToken({ ...bare, algorithm: "RS384" }, world.claims()),
  "19 an embedded jwk": () => {
    const own = rsaKey(SHARED_KEY.id);
    return signToken(own, world.claims(), { jwk: own.jwk });
  },
  "19 an embedded jwk beside the right key": () => world.token({}, { jwk: SHARED_KEY.jwk }),
  "19 jku": () => world.token({}, { jku: "http://evil.example/keys" }),
  "19 x5u": () => world.token({}, { x5u: "http://evil.example/cert" }),
  "19 x5c": () => world.token({}, { x5c: ["MIIB"] }),
  "19 crit": () => world.token({}, { crit: ["b64"], b64: true }),
  "19 cty, a token in a token": () => world.token({}, { cty: "JWT" }),
  "19 b64": () => world.token({}, { b64: false }),
  "19 enc": () => world.token({}, { enc: "A256GCM" }),
  "19 zip": () => world.token({}, { zip: "DEF" }),
  "19 crit, empty": () => world.token({}, { crit: [] }),
  "20 kid a path": () => world.token({}, { kid: "../../../../dev/null" }),
  "20 kid SQL": () => world.token({}, { kid: "' OR 1=1 --" }),
  "20 kid __proto__": () => world.token({}, { kid: "__proto__" }),
  "20 kid constructor": () => world.token({}, { kid: "constructor" }),
  "20 kid a number": () => world.token({}, { kid: 1 }),
  "20 kid null": () => world.token({}, { kid: null }),
  "20 kid empty": () => world.token({}, { kid: "" }),
  "20 kid too long": () => world.token({}, { kid: "k".repeat(257) }),
  "20 kid of another key": () => world.token({}, { kid: "bare" }),
  "22 exp missing": () => world.token({ exp: ABSENT }),
  "22 exp null": () => world.token({ exp: null }),
  "22 exp a string": () => world.token({ exp: String(now() + 60) }),
  "22 exp 1e308": () => world.token({ exp: 1e308 }),
  "22 exp in milliseconds": () => world.token({ exp: world.time + 60_000 }),
  "22 exp too large for a number": () =>
    signToken(SHARED_KEY, JSON.stringify(world.claims()).replace(/"exp":\d+/, '"exp":1e999')),
  "22 exp in the year 10000": () => world.token({ exp: 253_402_300_800 }),
  "22 exp at iat": () => world.token({ exp: now() + 10, iat: now() + 10 }),
  "22 exp true": () => world.token({ exp: true }),
  "22 iat zero": () => world.token({ iat: 0 }),
  "22 iat a string": () => world.token({ iat: String(now()) }),
  "22 exp negative": () => world.token({ exp: -1 }),
  "22 exp zero": () => world.token({ exp: 0 }),
  "22 exp before iat": () => world.token({ exp: now() - 20, iat: now() - 10 }),
  "22 exp at the boundary": () => world.token({ exp: now() - 60, iat: now() - 100 }),
  "22 iat missing": () => world.token({ iat: ABSENT }),
  "22 iat in the future": () => world.token({ iat: now() + 61 }),
  "22 iat in the future, and nbf in the past": () =>
    world.token({ iat: now() + 61, nbf: now() - 10 }),
  "22 nbf in the future": () => world.token({ nbf: now() + 61 }),
  "22 nbf a string": () => world.token({ nbf: "0" }),
  "22 nbf null": () => world.token({ nbf: null }),
  "23 aud missing": () => world.token({ aud: ABSENT }),
  "23 aud another": () => world.token({ aud: "other" }),
  "23 aud empty list": () => world.token({ aud: [] }),
  "23 aud nested": () => world.token({ aud: [["client"]] }),
  "23 aud with a number": () => world.token({ aud: ["client", 1] }),
  "23 aud an object": () => world.token({ aud: { 0: "client" } }),
  "23 aud too many": () => world.token({ aud: ["client", ...Array(100).fill("other")] }),
  "23 aud in part": () => world.token({ aud: "client2" }),
  "23 iss missing": () => world.token({ iss: ABSENT }),
  "23 iss with a slash": () => world.token({ iss: `${world.server.url}/` }),
  "23 iss in other case": () => world.token({ iss: world.server.url.toUpperCase() }),
  "23 iss a list": () => world.token({ iss: [world.server.url] }),
  "24 a refresh token of Casdoor": () => world.token({ tokenType: "refresh-token" }),
  "24 a refresh token of an older Casdoor": () => world.token({ TokenType: "refresh-token" }),
  "24 token_type a number": () => world.token({ token_type: 1 }),
  "24 token_use id": () => world.token({ token_use: "id" }),
  "24 typ claim of Keycloak": () => world.token({ typ: "Refresh" }),
  "24 an ID token by at_hash": () => world.token({ at_hash: "x" }),
  "24 an ID token by c_hash": () => world.token({ c_hash: "x" }),
  "24 an ID token by s_hash": () => world.token({ s_hash: "x" }),
  "24 an empty tokenType and a nonce": () => world.token({ tokenType: "", nonce: "x" }),
  "24 tokenType null": () => world.token({ tokenType: null }),
  "24 both an access token and an ID token": () =>
    world.token({ tokenType: "access-token", token_use: "id" }),
  "24 at+jwt with the typ claim Refresh": () => world.token({ typ: "Refresh" }, { typ: "at+jwt" }),
  "24 a logout token that claims to be an access token": () =>
    world.token({ events: {}, tokenType: "access-token" }, { typ: "at+jwt" }),
  "24 typ with text in front": () => world.token({}, { typ: "x-application/at+jwt" }),
  "24 typ with application/ within": () => world.token({}, { typ: "atapplication/+jwt" }),
  "24 typ of another application": () => world.token({}, { typ: "application/x" }),
  "24 typ null": () => world.token({}, { typ: null }),
  "24 an ID token by its nonce": () => world.token({ nonce: "x" }),
  "24 a logout token": () => world.token({ events: {} }),
  "24 typ logout+jwt": () => world.token({}, { typ: "logout+jwt" }),
  "24 typ a number": () => world.token({}, { typ: 1 }),
  "25 a signature of another key": () => signToken(rsaKey(SHARED_KEY.id), world.claims()),
  "25 claims changed": () => {
    const [header, , signature] = world.token().split(".");
    return `${header}.${encode(world.claims({ sub: "admin" }))}.${signature}`;
  },
  "25 header changed": () => {
    const [, claims, signature] = world.token().split(".");
    return `${encode({ alg: "RS256", kid: SHARED_KEY.id })}.${claims}.${signature}`;
  },
  "25 no signature": () => world.token().replace(/[^.]+$/, ""),
  "27 a space before": () => ` ${world.token()}`,
  "27 a space after": () => `${world.token()} `,
  "27 a tab within": () => world.token().replace(".", ".\t"),
  "27 a line feed": () => `${world.token()}\n`,
  "27 padding": () => `${world.token()}==`,
  "27 unused bits": () => alterLastBits(world.token()),
  "27 unused bits of the header": () => {
    const [, ...rest] = world.token().split(".");
    const text = JSON.stringify({ alg: "RS256", kid: SHARED_KEY.id, a: "" });
    return [alterLastBits(encode(text.padEnd(Math.ceil(text.length / 3) * 3 + 1))), ...rest].join(
      ".",
    );
  },
  "27 standard base64": () => world.token({ name: "???>>>" }).replaceAll("_", "/").concat("+"),
  "27 four parts": () => `${world.token()}.x`,
  "27 two parts": () => world.token().split(".").slice(0, 2).join("."),
  "27 of the maximum length": () => "x".repeat(16 * 1024),
  "27 empty": () => "",
  "27 dots": () => "..",
  "27 the JSON form": () => JSON.stringify({ payload: encode(world.claims()) }),
  "27 a key twice in the claims": () =>
    signToken(SHARED_KEY, `{"sub":"admin",${JSON.stringify(world.claims()).slice(1)}`),
  "27 a key twice, once escaped": () =>
    signToken(SHARED_KEY, `{"s\\u0075b":"admin",${JSON.stringify(world.claims()).slice(1)}`),
  ...Object.fromEntries(
    [" ", "\t", "\r\n", "  \n "].map((space) => [
      `27 a key twice, with ${JSON.stringify(space)} before the colon`,
      () =>
        signToken(
          SHARED_KEY,
          `{"sub"${space}:"admin"${space},${JSON.stringify(world.claims()).slice(1)}`,
        ),
    ]),
  ),
  "27 a key twice, after texts with quotes and brackets": () =>
    signToken(
      SHARED_KEY,
      `{"a":"\\"}","b":"\\\\","c":[{"sub":1},"]"],"sub":"admin",${JSON.stringify(world.claims()).slice(1)}`,
    ),
  "27 a key twice in the header": () =>
    signToken(SHARED_KEY, world.claims(), '{"alg":"RS256","alg":"RS256","kid":"key-1"}'),
  "27 a key twice, deeper": () =>
    signToken(SHARED_KEY, `{"x":[{"a":1,"a":2}],${JSON.stringify(world.claims()).slice(1)}`),
  "27 claims null": () => signToken(SHARED_KEY, "null"),
  "27 claims a text": () => signToken(SHARED_KEY, '"sub"'),
  "27 claims an array": () => signToken(SHARED_KEY, "[]"),
  "27 claims that are not JSON": () => signToken(SHARED_KEY, "{"),
  "27 claims with a byte order mark": () =>
    signToken(SHARED_KEY, `\ufeff${JSON.stringify(world.claims())}`),
  "28 1 MB": () => world.token({ x: "x".repeat(1_000_000) }),
  "28 one character too long": () => "x".repeat(16 * 1024 + 1),
  "28 a little too long": () => world.token({ x: "x".repeat(16_000) }),
  "sub missing": () => world.token({ sub: ABSENT }),
  "sub empty": () => world.token({ sub: "" }),
  "sub a number": () => world.token({ sub: 7 }),
  "sub with white space": () => world.token({ sub: "alice bob" }),
  "sub a wildcard": () => world.token({ sub: "*" }),
  "sub a member set": () => world.token({ sub: "group:x#member" }),
  "sub not ASCII": () => world.token({ sub: "аlice" }),
  "sub too long": () => world.token({ sub: "x".repeat(257) }),
  "sub with a NUL": () => world.token({ sub: "alice\0" }),
  "jti too long": () => world.token({ jti: "x".repeat(513) }),
  "jti a number": () => world.token({ jti: 1 }),
  "sid too long": () => world.token({ sid: "x".repeat(513) }),
  "sid a list": () => world.token({ sid: ["s"] }),
  "sid null": () => world.token({ sid: null }),
  "roles a string": () => world.token({ roles: "admin" }),
  "roles with null": () => world.token({ roles: [null] }),
  "roles without a name": () => world.token({ roles: [{ displayName: "admin" }] }),
  "roles too long": () => world.token({ roles: ["r".repeat(257)] }),
  "groups with a lone surrogate": () => world.token({ groups: ["\ud800"] }),
  "groups an object": () => world.token({ groups: { 0: "dev", length: 1 } }),
  "roles of numbers": () => world.token({ roles: [1] }),
  "groups with control characters": () => world.token({ groups: ["a\nb"] }),
  "too many groups": () => world.token({ groups: new Array(1001).fill("g") }),
};

/** The expected reason of each refusal. */
const REASONS: Record<string, RegExp> = {
  "16": /(its algorithm is not accepted|it is not a JWT)/,
  "17": /its algorithm is not accepted/,
  "18": /(its algorithm is not accepted|its key is unknown)/,
  "19": /(its header is not accepted)/,
  "20": /(its key is unknown|its key id is not valid|its signature is wrong)/,
  "22": /(its times are not valid|it has expired|it is not valid yet)/,
  "23": /its (issuer|audience) is not accepted/,
  "24": /(it is not an access token|its type is not accepted)/,
  "25": /(its signature is wrong|it is not a JWT)/,
  "27": /it is not a JWT/,
  "28": /it is too long/,
  sub: /its subject is not valid/,
  jti: /its id is not valid/,
  sid: /its session id is not valid/,
  roles: /its claims are not valid/,
  groups: /its claims are not valid/,
  too: /its claims are not valid/,
};

/** Sets a bit of the last character that carries no data. */
function alterLastBits(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(text.at(-1) as string);
  return text.slice(0, -1) + alphabet[last ^ 1];
}

describe("tokens that are refused [AUTHN-5]", () => {
  test.each(Object.entries(REFUSED))("%s", async (name, token) => {
    const reason = REASONS[name.split(" ", 1)[0] as string] as RegExp;
    expect(await world.outcome(token())).toMatch(
      new RegExp(`^401 UNAUTHORIZED: invalid token: ${reason.source}$`),
    );
    expect(await world.outcome(token(), { exposure: "PUBLIC" })).toBe("passed");
    expect(await world.verifier.verify(token())).toEqual({
      active: false,
      reason: expect.stringMatching(/^(?!revoked)[a-z_]+$/),
    });
  });

  test.each([1, null, true, {}, "k".repeat(257)])(
    "20 the provider is not asked for an invalid key id: %j",
    async (kid) => {
      const own = await JwtWorld.create();
      expect(await own.outcome(own.token({}, { kid }))).toContain("its key id is not valid");
      expect(own.server.asked).toEqual([]);
      await own.close();
    },
  );

  test("25 errors about claims are reported only after the signature is verified", async () => {
    const forged = signToken(rsaKey(SHARED_KEY.id), world.claims({ exp: now() - 999, iss: "x" }));
    expect(await world.outcome(forged)).toBe(
      "401 UNAUTHORIZED: invalid token: its signature is wrong",
    );
  });

  test("owners are checked if the configuration names them", async () => {
    const strict = await JwtWorld.create({ oidc: { allowed_owners: ["acme"] } });
    expect(await strict.outcome(strict.token({ owner: "acme" }))).toBe("passed");
    for (const owner of ["evil", "ACME", "", ["acme"], ABSENT]) {
      expect(await strict.outcome(strict.token({ owner }))).toContain("its owner is not accepted");
    }
    await strict.close();
  });
});

describe("the Authorization header [AUTHN-5]", () => {
  const refused: Record<string, (token: string) => [string, string][]> = {
    "28 bearer in lower case": (token) => [["authorization", `bearer ${token}`]],
    "28 BEARER": (token) => [["authorization", `BEARER ${token}`]],
    "28 two spaces": (token) => [["authorization", `Bearer  ${token}`]],
    "28 a tab": (token) => [["authorization", `Bearer\t${token}`]],
    "28 no token": () => [["authorization", "Bearer"]],
    "28 two tokens joined": (token) => [["authorization", `Bearer ${token}, Bearer ${token}`]],
    "4 twice": (token) => [
      ["authorization", `Bearer ${token}`],
      ["authorization", `Bearer ${token}`],
    ],
  };
  test.each(Object.entries(refused))("%s", async (_name, headers) => {
    const outcome = await world.outcome(undefined, { headers: headers(world.token()) });
    expect(outcome).toMatch(/^401 UNAUTHORIZED: invalid token: /);
  });

  const others: Record<string, (token: string) => [string, string][]> = {
    none: () => [],
    "28 a token in the query or another header": (token) => [["x-access-token", token]],
    "28 Basic": (token) => [["authorization", `Basic ${token}`]],
    "28 a scheme that starts with Bearer": (token) => [["authorization", `BearerX ${token}`]],
    "28 a scheme that ends with Bearer": (token) => [["authorization", `XBearer ${token}`]],
    "28 the bare token": (token) => [["authorization", token]],
  };
  test.each(Object.entries(others))("%s is not a credential", async (_name, headers) => {
    const outcome = await world.outcome(undefined, { headers: headers(world.token()) });
    expect(outcome).toBe("401 UNAUTHORIZED: missing principal");
  });
});

describe("tokens that are accepted", () => {
  const accepted: Record<string, () => string> = {
    "a usual one": () => world.token(),
    "22 just before the end of the skew": () => world.token({ exp: now() - 59, iat: now() - 100 }),
    "22 issued slightly ahead of our clock": () => world.token({ iat: now() + 60 }),
    "23 aud a list": () => world.token({ aud: ["other", "client"] }),
    ES256: () => signToken(ec, world.claims()),
    "18 RS512 with a key without alg": () =>
      signToken({ ...bare, algorithm: "RS512" }, world.claims()),
    "24 typ at+jwt": () => world.token({ nonce: "x" }, { typ: "at+jwt" }),
    "24 typ application/at+jwt": () => world.token({}, { typ: "application/AT+JWT" }),
    "24 typ in other case": () => world.token({}, { typ: "jwt" }),
    "24 an access token, for all kinds of names": () =>
      world.token({
        tokenType: "",
        TokenType: "Access-Token",
        token_type: "Bearer",
        token_use: "access",
        typ: "at+jwt",
        nonce: "x",
      }),
    "24 names of other objects": () => world.token({ toString: "x", constructor: {} }),
    "20 kid of the maximum length": () => signToken(longest, world.claims()),
    "22 nbf slightly ahead of our clock": () => world.token({ nbf: now() + 60 }),
    "22 the latest exp": () => world.token({ exp: 253_402_300_799 }),
    "23 the maximum number of audiences": () =>
      world.token({ aud: [...Array(99).fill("other"), "client"] }),
    "27 keys that occur in two objects": () =>
      signToken(
        SHARED_KEY,
        `{"a":[{"b":1},{"b":2}],"c":{"sub":{"sub":"\\\\"}},${JSON.stringify(world.claims()).slice(1)}`,
      ),
    "27 strings that equal keys": () => world.token({ x: ["sub", "sub"], y: 'sub":' }),
    ES512: () => signToken(ec512, world.claims()),
    "jti of the maximum length": () => world.token({ jti: "x".repeat(512) }),
    "the maximum number and length of groups": () =>
      world.token({ groups: [...Array(10).fill("g".repeat(256)), ...Array(990).fill("g")] }),
    "24 without typ": () => world.token({}, { typ: ABSENT }),
    "24 an access token of Casdoor": () => world.token({ tokenType: "access-token", nonce: "x" }),
    "without kid, if one key matches": () => signToken(ec512, world.claims(), { kid: ABSENT }),
  };
  test.each(Object.entries(accepted))("%s", async (_name, token) => {
    const call = world.call(token());
    await world.run(call);
    expect(call.principal).toMatchObject({
      subjectId: "alice",
      subjectType: "user",
      source: "jwt",
    });
    expect(call.credential).toBe("jwt");
    expect(await world.verifier.verify(token())).toMatchObject({
      active: true,
      principal: call.principal,
    });
  });

  test("a token without kid is refused if several keys match", async () => {
    expect(await world.outcome(world.token({}, { kid: ABSENT }))).toContain("key is unknown");
  });

  test("the principal has the values of the claims [AUTHN-9]", async () => {
    const call = world.call(
      world.token({
        id: "another",
        name: "alice.w",
        preferred_username: "aw",
        displayName: "Alice\n W.",
        email: "alice@example.com",
        owner: "acme",
        groups: ["acme/dev", ""],
        roles: [{ name: "editor", owner: "acme" }, "viewer"],
        scope: "openid  profile",
      }),
    );
    await world.run(call);
    expect(call.principal).toEqual({
      subjectId: "alice",
      subjectType: "user",
      username: "aw",
      name: "Alice  W.",
      email: "alice@example.com",
      organizationId: "acme",
      groups: ["acme/dev"],
      roles: ["editor", "viewer"],
      scopes: ["openid", "profile"],
      source: "jwt",
    });
    expect(Object.isFrozen(call.principal) && Object.isFrozen(call.principal?.roles)).toBe(true);
  });

  const marks = "\u2028 \u2029 \u202a \u202e \u2066 \u2069 \u0085 \u007f \ud800 \udfff".split(" ");
  test.each(["al\0ice", "alice\n", ...marks.map((mark) => `al${mark}ice`)])(
    "a name that equals alice's without one of its characters stays different: %j",
    async (name) => {
      const call = world.call(world.token({ name, preferred_username: name, email: name }));
      await world.run(call);
      const { principal } = call;
      for (const text of [principal?.name, principal?.username, principal?.email]) {
        expect(text).toMatch(/^al ?ice ?$/);
        expect(text).not.toBe("alice");
      }
    },
  );

  test("very long names are truncated, and names that are not text are ignored", async () => {
    const call = world.call(
      world.token({
        name: "n".repeat(1025),
        preferred_username: "a\nb\nc",
        email: 7,
        owner: ABSENT,
      }),
    );
    await world.run(call);
    expect(call.principal).toMatchObject({
      name: "n".repeat(1024),
      username: "a b c",
      email: "",
      organizationId: "",
    });
  });

  test("scopes may be a list", async () => {
    const call = world.call(world.token({ scope: ["read all", "", "write"] }));
    await world.run(call);
    expect(call.principal?.scopes).toEqual(["read all", "write"]);
  });

  test("names fall back to the claim name", async () => {
    const call = world.call(world.token({ name: "alice.w", groups: null }));
    await world.run(call);
    expect(call.principal).toMatchObject({ username: "alice.w", name: "alice.w", groups: [] });
  });
});
