import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ALICE, IamWithCasdoor } from "../../support/casdoor/iam-with-casdoor.ts";
import { APPLICATION, failed } from "../../support/casdoor/stand-in-casdoor.ts";
import { asUser, REDIRECT_URI } from "../../support/iam-service.ts";

let it: IamWithCasdoor;
beforeAll(async () => {
  it = await IamWithCasdoor.start();
});
afterAll(() => it.stop());
afterEach(() => it.reset());

/** Tokens that no login may have, and what the caller gets. */
const BAD_CLAIMS: readonly [string, Readonly<Record<string, unknown>>, string, string][] = [
  ["of another organization", { owner: "built-in" }, "INVALID_ARGUMENT", "organization"],
  ["of two organizations", { owner: ["acme", "evil"] }, "INVALID_ARGUMENT", "organization"],
  ["of no organization", { owner: undefined }, "INVALID_ARGUMENT", "organization"],
  ["for another client", { aud: ["another"] }, "UNAVAILABLE", "does not answer"],
  [
    "for a shared application",
    { aud: [`${APPLICATION.clientId}-org-acme`] },
    "UNAVAILABLE",
    "does not answer",
  ],
  ["of another issuer", { iss: "https://evil.example" }, "UNAVAILABLE", "does not answer"],
  ["that has expired", { iat: 1_690_000_000, exp: 1_700_000_000 }, "UNAVAILABLE", "answer"],
  ["that is not valid yet", { nbf: 4_000_000_000 }, "UNAVAILABLE", "does not answer"],
  ["of nobody", { sub: undefined }, "UNAVAILABLE", "does not answer"],
  ["of a number", { sub: 7 }, "UNAVAILABLE", "does not answer"],
  ["of a subject with a line break", { sub: "a\nb" }, "UNAVAILABLE", "does not answer"],
  ["that is a refresh token", { tokenType: "refresh-token" }, "UNAVAILABLE", "does not answer"],
  ["with groups as text", { groups: "staff" }, "UNAVAILABLE", "does not answer"],
  ["of more than 16 KiB", { bio: "x".repeat(17_000) }, "UNAVAILABLE", "does not answer"],
];

test.each(BAD_CLAIMS)(
  "a login with a token %s is refused [IDP-16]",
  async (_, claims, code, message) => {
    const begun = await it.callback();
    it.casdoor.oauth.claims = claims;
    const { body } = await it.exchange(begun);
    expect(body).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(JSON.stringify(body)).not.toContain("eyJ");
  },
);

test.each(BAD_CLAIMS)(
  "a refresh to a token %s is refused [IDP-16]",
  async (_, claims, code, message) => {
    const { refreshToken } = await it.logIn();
    it.casdoor.oauth.claims = claims;
    const { body } = await it.refresh(refreshToken);
    expect(body).toMatchObject({ code, message: expect.stringContaining(message) });
  },
);

test("a token that the key of another organization signed is refused everywhere [IDP-16]", async () => {
  const begun = await it.callback();
  it.casdoor.oauth.signer = it.casdoor.foreignKey;
  expect((await it.exchange(begun)).body.code).toBe("UNAVAILABLE");
  const [forged] = [...it.casdoor.oauth.records.values()].slice(-1);
  expect((await it.me(forged?.accessToken ?? "")).status).toBe(401);
});

test("a refresh token is not an access token", async () => {
  const { refreshToken } = await it.logIn();
  expect((await it.me(refreshToken)).status).toBe(401);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ["another code", { code: "another" }],
  ["another verifier", { codeVerifier: "v".repeat(43) }],
  ["no verifier", { codeVerifier: "" }],
  ["another nonce", { nonce: "another" }],
  ["another issuer", { issuer: "https://evil.example" }],
  ["the code of guests", { code: "guest-user" }],
])("%s is an invalid argument", async (_, more) => {
  expect((await it.exchange(await it.callback(more))).body.code).toBe("INVALID_ARGUMENT");
});

const API_ERROR = failed("the <b>code</b> is wrong").json as object;
test.each<[string, string, object | undefined]>([
  ["an error of the API instead of tokens", "access_token", API_ERROR],
  ["a page instead of tokens", "access_token", undefined],
  ["an error instead of the key set", "jwks", API_ERROR],
  ["a page instead of the key set", "jwks", undefined],
  ["a list instead of the key set", "jwks", [1]],
])("a Casdoor with %s is UNAVAILABLE", async (_, path, json) => {
  // Another instance: keys are kept for a while.
  const other = await IamWithCasdoor.start();
  try {
    const begun = await other.callback();
    other.casdoor.intercept = (request, response) => {
      if (request.url?.includes(path) !== true) return false;
      const type = json === undefined ? "text/html" : "application/json";
      response.writeHead(200, { "Content-Type": type });
      response.end(json === undefined ? "<html>" : JSON.stringify(json));
      return true;
    };
    const { body } = await other.exchange(begun);
    expect(body.code).toBe("UNAVAILABLE");
    expect(body.message).not.toMatch(/wrong|html/);
  } finally {
    await other.stop();
  }
});

test("the login URL is that of Casdoor", () => {
  const { origin, pathname, searchParams } = it.loginUrl;
  expect(origin + pathname).toBe(`${it.casdoor.origin}/login/oauth/authorize`);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: APPLICATION.clientId,
    response_type: "code",
    redirect_uri: REDIRECT_URI,
    scope: "openid profile email",
    state: "a state",
  });
});

test("a person logs in, and the token identifies the person [IDP-1]", async () => {
  const tokens = await it.logIn();
  expect(tokens).toMatchObject({ tokenType: "Bearer", scopes: ["openid", "profile", "email"] });
  const { status, body } = await it.me(tokens.accessToken);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    subjectId: ALICE.id,
    username: "alice",
    name: "Alice",
    email: "alice@example.com",
    organizationId: "acme",
    groups: ["acme/staff"],
    roles: ["auditor"],
    source: "jwt",
  });
});

test("a refresh token is exchanged once, with the same or fewer scopes", async () => {
  const { refreshToken } = await it.logIn();
  const fresh = await it.refresh(refreshToken);
  expect(fresh.status).toBe(200);
  expect((await it.refresh(refreshToken)).body.code).toBe("INVALID_ARGUMENT");
  const fewer = await it.refresh(fresh.body.tokens.refreshToken, ["openid"]);
  expect(fewer.body.tokens.scopes).toEqual(["openid"]);
  const more = await it.refresh(fewer.body.tokens.refreshToken, ["openid", "email"]);
  expect(more.body.code).toBe("INVALID_ARGUMENT");
});

test("people have a profile and preferences here", async () => {
  const { accessToken } = await it.logIn();
  const headers = { Authorization: `Bearer ${accessToken}` };
  const update = await it.iam.call("PATCH", "/v1/iam/me", { name: "Alice A." }, headers);
  expect(update.body).toMatchObject({ name: "Alice A.", email: "alice@example.com" });
  const path = "/v1/iam/me/preferences";
  const preferences = await it.iam.call("PATCH", path, { language: "de" }, headers);
  expect(preferences.body).toMatchObject({ language: "de" });
  const read = await it.iam.call("GET", path, undefined, headers);
  expect(read.body).toMatchObject({ language: "de" });
});

test("local users are those of the embedded provider only", async () => {
  const zone = { resource: { type: "zone", id: "acme" }, relation: "owner" };
  const relationship = { ...zone, subject: { type: "user", id: "root" } };
  await it.iam.options.engine?.writeRelationships({
    updates: [{ operation: "TOUCH", relationship }],
  });
  expect((await it.iam.call("GET", "/v1/users", undefined, asUser("root"))).status).toBe(501);
});
