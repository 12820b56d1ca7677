/** Tokens with a valid signature but an unusual form, in the modes that verify them. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { KeyServer } from "../../authn/jwt/key-server.ts";
import { ABSENT, encode, rsaKey, signToken } from "../../authn/jwt/tokens.ts";
import { ONE_OF_EACH } from "../../support/wire/protocols.ts";
import type { Field } from "../support/raw-http.ts";
import { expectRows } from "../support/send.ts";
import { tokenSource } from "../support/tokens.ts";
import { startWorld, type World } from "../support/world.ts";

const VERIFYING = ["idp_jwt", "hybrid"] as const;
const NOBODY = "- 401 401 401 401";

const issuer = new KeyServer();
const key = rsaKey("one");
const { claims, token } = tokenSource(() => issuer.url, key);
const worlds = new Map<string, World>();

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  for (const mode of VERIFYING) {
    const options = { mode, issuer: issuer.url, oidc: { allowed_owners: ["acme"] } };
    worlds.set(mode, await startWorld(options));
  }
});
afterAll(async () => {
  for (const world of worlds.values()) await world.stop();
  await issuer.stop();
});

const acme = { owner: "acme" };
const owned = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  token({ ...acme, ...changes }, header);
/** A token with a text inserted into its claims. */
const signed = (text: string, header?: string) => signToken(key, text, header);
const inserted = (member: string) => `{${member},${JSON.stringify(claims(acme)).slice(1)}`;

const REFUSED: Readonly<Record<string, () => string>> = {
  "b64 false without crit": () => owned({}, { b64: false }),
  "b64 false with crit": () => owned({}, { b64: false, crit: ["b64"] }),
  "crit with a known claim": () => owned({}, { crit: ["exp"], exp: 1 }),
  "a payload that is declared as compressed": () => owned({}, { zip: "DEF" }),
  "a token within a token": () => signed(owned(), JSON.stringify({ alg: "RS256", kid: "one" })),
  "a token within a token, by its type": () => owned({}, { cty: "JWT" }),
  "the form of JWE": () => [encode({ alg: "dir", enc: "A256GCM" }), "", "AA", "AA", "AA"].join("."),
  "JWE in the header of JWS": () => owned({}, { enc: "A256GCM" }),
  "alg in lower case": () => owned({}, { alg: "rs256" }),
  "alg with a space": () => owned({}, { alg: "RS256 " }),
  "alg with a NUL": () => owned({}, { alg: "RS256\0" }),
  "alg twice, once escaped": () =>
    signed(JSON.stringify(claims(acme)), '{"\\u0061lg":"none","alg":"RS256","kid":"one"}'),
  "alg only in the prototype": () =>
    signed(JSON.stringify(claims(acme)), '{"__proto__":{"alg":"RS256"},"kid":"one"}'),
  "a header that is nested too deeply": () =>
    signed(
      JSON.stringify(claims(acme)),
      `{"alg":"RS256","kid":"one","x":${"[".repeat(4_000)}${"]".repeat(4_000)}`,
    ),
  "typ of another media type": () => owned({}, { typ: "at+jwt;x=1" }),
  "typ with a space": () => owned({}, { typ: "JWT " }),
  "typ of a DPoP proof": () => owned({}, { typ: "dpop+jwt" }),
  "typ of a security event": () => owned({}, { typ: "secevent+jwt" }),
  "typ of a client's request": () => owned({}, { typ: "oauth-authz-req+jwt" }),
  "typ an object": () => owned({}, { typ: { toString: "jwt" } }),
  "typ null": () => owned({}, { typ: null }),
  "typ empty": () => owned({}, { typ: "" }),
  "iss with a similar letter": () => owned({ iss: issuer.url.replace("h", "һ") }),
  "iss with a NUL after": () => owned({ iss: `${issuer.url}\0` }),
  "iss with a user": () => owned({ iss: issuer.url.replace("//", "//x@") }),
  "iss with a fragment": () => owned({ iss: `${issuer.url}#` }),
  "iss by a name of the same host": () =>
    owned({ iss: issuer.url.replace("127.0.0.1", "localhost") }),
  "iss only in the prototype": () =>
    signed(
      JSON.stringify({ ...claims(acme), iss: ABSENT }).replace(
        "{",
        `{"__proto__":{"iss":"${issuer.url}"},`,
      ),
    ),
  "aud with a space": () => owned({ aud: "vault-client " }),
  "aud in other case": () => owned({ aud: "Vault-Client" }),
  "aud as a list in a text": () => owned({ aud: '["vault-client"]' }),
  "aud with commas": () => owned({ aud: "other,vault-client" }),
  "aud with spaces": () => owned({ aud: "other vault-client" }),
  "aud null beside it": () => owned({ aud: [null, "vault-client"] }),
  "aud with 101 entries": () => owned({ aud: new Array(101).fill("vault-client") }),
  "only azp is ours": () => owned({ aud: "other", azp: "vault-client", client_id: "vault-client" }),
  "sub in the prototype": () =>
    signed(
      JSON.stringify({ ...claims(acme), sub: ABSENT }).replace(
        "{",
        '{"__proto__":{"sub":"alice"},',
      ),
    ),
  "sub twice": () => signed(inserted('"sub":"admin"')),
  "sub twice, once with an escape": () => signed(inserted('"\\u0073ub":"admin"')),
  "sub with a zero-width space": () => owned({ sub: "alice\u200b" }),
  "sub with a direction mark": () => owned({ sub: "\u202ealice" }),
  "sub with a similar letter": () => owned({ sub: "аlice" }),
  "sub in full-width letters": () => owned({ sub: "ａlice" }),
  "sub with a DEL": () => owned({ sub: "alice\x7f" }),
  "sub with a tab after": () => owned({ sub: "alice\t" }),
  "sub with a line": () => owned({ sub: "alice\r\nx-svc-user-id: admin" }),
  "sub a lone surrogate": () => signed(JSON.stringify(claims(acme)).replace("alice", "\\ud800")),
  "sub a list": () => owned({ sub: ["alice"] }),
  "sub an object": () => owned({ sub: { toString: "alice" } }),
  "sub with a member": () => owned({ sub: "alice#member" }),
  "sub a wildcard of users": () => owned({ sub: "user:*" }),
  "owner a list": () => owned({ owner: ["acme"] }),
  "owner an object": () => owned({ owner: { name: "acme" } }),
  "owner with a space": () => owned({ owner: "acme " }),
  "owner with a NUL": () => owned({ owner: "acme\0" }),
  "owner with a similar letter": () => owned({ owner: "аcme" }),
  "owner null": () => owned({ owner: null }),
  "owner missing": () => token(),
  "owner in the prototype": () =>
    signed(JSON.stringify(claims()).replace("{", '{"__proto__":{"owner":"acme"},')),
  "scope an object": () => owned({ scope: { admin: true } }),
  "scope a number": () => owned({ scope: 1 }),
  "scope a list in a list": () => owned({ scope: [["admin"]] }),
  "groups an object": () => owned({ groups: { 0: "admin", length: 1 } }),
  "groups a text": () => owned({ groups: "admin" }),
  "groups of objects without a name": () => owned({ groups: [{ id: "admin" }] }),
  "groups of objects whose name is an object": () => owned({ groups: [{ name: { name: "a" } }] }),
  "groups of null": () => owned({ groups: [null] }),
  "roles with a line": () => owned({ roles: ["viewer\nadmin"] }),
  "roles with a surrogate": () => owned({ roles: ["viewer\ud800"] }),
  "exp a list": () => owned({ exp: [9_999_999_999] }),
  "exp in exponent form, too large for a year": () =>
    signed(JSON.stringify(claims(acme)).replace(/"exp":\d+/, '"exp":9e99')),
  "nbf true": () => owned({ nbf: true }),
  "iat negative": () => owned({ iat: -1 }),
  "iat a text": () => owned({ iat: "1" }),
  "a claim set that is a text": () => signed(JSON.stringify("alice")),
  "a claim set that is null": () => signed("null"),
  "a claim set with a comment": () => signed(`${JSON.stringify(claims(acme))}//`),
  "a claim set in UTF-16": () => signed(`\ufffe${JSON.stringify(claims(acme))}`),
};

describe.each(VERIFYING)("in mode %s", (mode) => {
  test.each(Object.entries(REFUSED))("%s identifies no caller", async (_title, make) => {
    const fields: Field[] = [["Authorization", `Bearer ${make()}`]];
    await expectRows(worlds.get(mode) as World, NOBODY, { fields }, ONE_OF_EACH);
  });

  test("the unchanged token identifies alice, for comparison", async () => {
    const harmless = { azp: "another", x: { sub: "admin" }, scope: ["a"], groups: [], roles: null };
    for (const text of [owned(), owned(harmless, { typ: "application/at+jwt", x5t: "x" })]) {
      const fields: Field[] = [["Authorization", `Bearer ${text}`]];
      await expectRows(worlds.get(mode) as World, "alice alice alice 403 403", { fields });
    }
  });
});
