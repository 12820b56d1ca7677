/** What a response with 401 says of the Bearer token of its request, over each protocol with HTTP statuses. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeyServer } from "../../authn/jwt/key-server.ts";
import { rsaKey, signToken } from "../../authn/jwt/tokens.ts";
import { nowSeconds, tokenSource } from "../support/tokens.ts";
import { startWorld, type World } from "../support/world.ts";

const MODES = ["idp_jwt", "hybrid", "gateway_trusted"] as const;
type Mode = (typeof MODES)[number];

const issuer = new KeyServer();
const key = rsaKey("one");
const { claims, token } = tokenSource(() => issuer.url, key);
const worlds = new Map<Mode, World>();

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
  for (const mode of MODES) worlds.set(mode, await startWorld({ mode, issuer: issuer.url }));
});
afterAll(async () => {
  for (const world of worlds.values()) await world.stop();
  await issuer.stop();
});

const PLAIN = [401, "Bearer"] as const;
const INVALID = [401, 'Bearer error="invalid_token"'] as const;

/** The status and the challenge of a call that needs a caller, as a route and over Connect. */
async function challenges(
  mode: Mode,
  headers: [string, string][],
  from: "stranger" | "trusted" = "stranger",
) {
  const origin = `http://127.0.0.1:${worlds.get(mode)?.port("http", from)}`;
  const answers = [
    await fetch(`${origin}/v1/profile`, { headers }),
    await fetch(`${origin}/acme.vault.v1.VaultService/GetProfile`, {
      method: "POST",
      headers: [
        ...headers,
        ["Content-Type", "application/json"],
        ["Connect-Protocol-Version", "1"],
      ],
      body: "{}",
    }),
  ];
  return Promise.all(
    answers.map(async (answer) => {
      await answer.text();
      return [answer.status, answer.headers.get("www-authenticate")];
    }),
  );
}

describe.each(["idp_jwt", "hybrid"] as const)("in the mode %s", (mode) => {
  test.each<[string, () => string]>([
    ["is no JWT", () => "Bearer x"],
    ["is empty", () => "Bearer "],
    ["has another spelling of its scheme", () => `bearer ${token()}`],
    ["has expired", () => `Bearer ${token({ exp: nowSeconds() - 99, iat: nowSeconds() - 999 })}`],
    ["has another audience", () => `Bearer ${token({ aud: "other" })}`],
    ["has a signature of another key", () => `Bearer ${signToken(rsaKey("one"), claims())}`],
  ])("a token that %s is called invalid", async (_, value) => {
    expect(await challenges(mode, [["Authorization", value()]])).toEqual([INVALID, INVALID]);
  });

  test.each<[string, [string, string][]]>([
    ["no credentials", []],
    ["another scheme", [["Authorization", "Basic YTpi"]]],
    ["a scheme that begins alike", [["Authorization", "Bearer2 x"]]],
    ["an internal token that is wrong", [["X-Svc-Internal-Token", "x"]]],
  ])("a request with %s is only asked for a token", async (_, headers) => {
    expect(await challenges(mode, headers)).toEqual([PLAIN, PLAIN]);
  });

  test("a token that is accepted has no challenge, nor has a refusal of its caller", async () => {
    const headers: [string, string][] = [["Authorization", `Bearer ${token()}`]];
    expect(await challenges(mode, headers)).toEqual([
      [200, null],
      [200, null],
    ]);
    const origin = `http://127.0.0.1:${worlds.get(mode)?.port("http", "stranger")}`;
    const refused = await fetch(`${origin}/v1/documents:dump`, { headers });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([403, null]);
  });
});

test("a token beside identity headers of another caller is not itself invalid", async () => {
  const headers: [string, string][] = [
    ["Authorization", `Bearer ${token()}`],
    ["X-Svc-External-Sub", "bob"],
  ];
  expect(await challenges("hybrid", headers, "trusted")).toEqual([PLAIN, PLAIN]);
});

test("where no mode reads tokens, a request with one is only asked for credentials", async () => {
  const headers: [string, string][] = [["Authorization", "Bearer x"]];
  expect(await challenges("gateway_trusted", headers)).toEqual([PLAIN, PLAIN]);
});
