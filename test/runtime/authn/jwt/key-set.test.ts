import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JwtWorld, SHARED_KEY } from "./jwt-world.ts";
import { ecKey, rsaKey, signToken } from "./tokens.ts";

const SECOND = 1000;
const TTL = 600 * SECOND;
const next = ecKey("key-2");

let world: JwtWorld;
beforeEach(async () => {
  world = await JwtWorld.create();
});
afterEach(() => world.close());

const UNAVAILABLE = "503 UNAVAILABLE: unavailable";
const UNKNOWN = "401 UNAUTHORIZED: invalid token: its key is unknown";

describe("the provider's keys", () => {
  test("are read once, for the first token, for all waiting calls", async () => {
    expect(world.server.asked).toEqual([]);
    const calls = Array.from({ length: 50 }, (_, index) =>
      world.outcome(world.token({ sub: `user-${index}` })),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["passed"]));
    expect(world.server.asked).toEqual(["/.well-known/openid-configuration", "/keys"]);
  });

  test("21 are unavailable: calls get 503, never 401, and PUBLIC calls pass without identity [AUTHN-7]", async () => {
    await world.server.stop();
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    expect(await world.outcome(world.token(), { exposure: "AUTHORIZED" })).toBe(UNAVAILABLE);
    const open = world.call(world.token(), { exposure: "PUBLIC" });
    await world.run(open);
    expect(open.principal).toBeUndefined();
    expect(world.reported).toContain("authentication jwt unavailable");
    // A token that is not a JWT needs no provider.
    expect(await world.outcome("x.y.z")).toContain("401");
    await world.server.start();
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    world.time += 5 * SECOND;
    expect(await world.outcome(world.token())).toBe("passed");
  });

  test("21 a flood of unknown key ids causes one request in 30 seconds [AUTHN-7]", async () => {
    expect(await world.outcome(world.token())).toBe("passed");
    expect(world.server.keyReads).toBe(1);
    for (let index = 0; index < 200; index++) {
      expect(await world.outcome(world.token({}, { kid: `unknown-${index}` }))).toBe(UNKNOWN);
    }
    expect(world.server.keyReads).toBe(2);
    world.time += 30 * SECOND;
    const flood = Array.from({ length: 200 }, (_, index) =>
      world.outcome(world.token({}, { kid: `more-${index}` })),
    );
    expect(new Set(await Promise.all(flood))).toEqual(new Set([UNKNOWN]));
    expect(world.server.keyReads).toBe(3);
    expect(await world.outcome(world.token({ sub: "bob" }))).toBe("passed");
  });

  test("21 an unknown key id while the provider is down is 503", async () => {
    expect(await world.outcome(world.token())).toBe("passed");
    await world.server.stop();
    for (let index = 0; index < 3; index++) {
      expect(await world.outcome(signToken(next, world.claims()))).toBe(UNAVAILABLE);
    }
    expect(await world.outcome(world.token({ sub: "bob" }))).toBe("passed");
  });

  test("21 a new key is found at once", async () => {
    expect(await world.outcome(world.token())).toBe("passed");
    world.server.keys = [SHARED_KEY.jwk, next.jwk];
    expect(await world.outcome(signToken(next, world.claims()))).toBe("passed");
    expect(await world.outcome(world.token())).toBe("passed");
    expect(world.server.keyReads).toBe(2);
  });

  test("26 a withdrawn key is refused once the keys have expired, even for cached tokens [AUTHN-6]", async () => {
    // Cached for longer than the keys.
    const own = await JwtWorld.create({ cache_ttl_ns: 7200e9 });
    const known = own.token({ exp: own.seconds + 7200 });
    expect(await own.outcome(known)).toBe("passed");
    own.server.keys = [next.jwk];
    own.time += TTL;
    expect(await own.outcome(known)).toBe(UNKNOWN);
    await own.close();
  });

  test("26 a withdrawn key is refused once the keys were reread for another token", async () => {
    const token = world.token();
    expect(await world.outcome(token)).toBe("passed");
    world.server.keys = [next.jwk];
    expect(await world.outcome(signToken(next, world.claims()))).toBe("passed");
    expect(await world.outcome(token)).toBe(UNKNOWN);
  });

  test("26 a withdrawn key verifies no token once the keys have expired", async () => {
    const token = world.token({ exp: world.seconds + 7200 });
    expect(await world.outcome(token)).toBe("passed");
    world.server.keys = [next.jwk];
    world.time += TTL;
    expect(await world.outcome(token)).toBe(UNKNOWN);
    expect(await world.outcome(signToken(next, world.claims()))).toBe("passed");
  });

  test("26 the same key id with another key is another key", async () => {
    const token = world.token();
    expect(await world.outcome(token)).toBe("passed");
    world.server.keys = [rsaKey(SHARED_KEY.id).jwk];
    world.time += TTL;
    expect(await world.outcome(token)).toContain("its signature is wrong");
  });

  test("cached tokens need no new verification if the keys are unchanged", async () => {
    const token = world.token();
    await world.outcome(token);
    world.time += 200 * SECOND;
    world.server.keys = [{ ...SHARED_KEY.jwk }, next.jwk];
    await world.outcome(world.token({}, { kid: "none" }));
    world.reported.length = 0;
    expect(world.run(world.call(token))).toBeUndefined();
    expect(world.reported).toContain("cache jwt hit");
  });

  test("are reread in the background before they expire", async () => {
    await world.outcome(world.token());
    world.time += TTL * 0.9;
    expect(await world.outcome(world.token())).toBe("passed");
    await expect
      .poll(() => world.server.keyReads, { message: "the keys are read a second time" })
      .toBe(2);
    world.time += TTL * 0.5;
    expect(await world.outcome(world.token())).toBe("passed");
    expect(world.server.keyReads).toBe(2);
  });

  test("are used for twice their lifetime while the provider is down, then all tokens are refused", async () => {
    const token = world.token();
    await world.outcome(token);
    await world.server.stop();
    world.time += TTL;
    expect(await world.outcome(token)).toBe("passed");
    expect(await world.outcome(world.token({ sub: "bob" }))).toBe("passed");
    world.time += TTL;
    expect(await world.outcome(token)).toBe(UNAVAILABLE);
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    await world.server.start();
    world.time += 5 * SECOND;
    expect(await world.outcome(token)).toBe("passed");
  });

  test("21 a hanging provider delays calls only briefly while there are keys", async () => {
    await world.outcome(world.token());
    let isGivenUp = false;
    world.server.answer = (response) => {
      response.on("close", () => {
        isGivenUp = true;
      });
    };
    world.time += TTL;
    expect(await world.outcome(world.token({ sub: "bob" }))).toBe("passed");
    expect(isGivenUp).toBe(false);
  });

  const keys = JSON.stringify({ keys: [SHARED_KEY.jwk] });
  test.each<[string, (world: JwtWorld) => void, string]>([
    [
      "has the status 500",
      (own) => (own.server.answer = (response) => response.writeHead(500).end(keys)),
      "it returned the status 500",
    ],
    [
      "has the status 404",
      (own) => (own.server.answer = (response) => response.writeHead(404).end(keys)),
      "cannot be read: it returned the status 404",
    ],
    [
      "has the status 206",
      (own) => (own.server.answer = (response) => response.writeHead(206).end(keys)),
      "it returned the status 206",
    ],
    [
      "is not all UTF-8",
      (own) => {
        own.server.answer = (response) =>
          response.end(Buffer.from(keys.replace("{", '{"x":"\u00ff",'), "latin1"));
      },
      "not valid",
    ],
    [
      "is huge",
      (own) =>
        (own.server.answer = (response) =>
          response.end(JSON.stringify({ keys: [SHARED_KEY.jwk], x: "x".repeat(2_000_000) }))),
      "more than 1048576 bytes",
    ],
    [
      "never ends",
      (own) => {
        own.server.answer = (response) => {
          const write = () => {
            while (!response.destroyed && response.write(" ".repeat(65_536)));
          };
          response.on("drain", write).on("error", () => undefined);
          write();
        };
      },
      "more than 1048576 bytes",
    ],
    [
      "is not JSON",
      (own) => (own.server.answer = (response) => response.end("<html>")),
      "is not valid JSON",
    ],
    ...["[]", "null", "7", '"keys"'].map(
      (body) =>
        [
          `is ${body}`,
          (own: JwtWorld) => (own.server.answer = (response) => response.end(body)),
          "the response is not a JSON object",
        ] as [string, (world: JwtWorld) => void, string],
    ),
    [
      "has no keys",
      (own) => (own.server.answer = (response) => response.end("{}")),
      "the key set of the provider has no keys",
    ],
    [
      "has too many keys",
      (own) => (own.server.keys = new Array(101).fill(SHARED_KEY.jwk)),
      "has more than 100 keys",
    ],
    [
      "redirects",
      (own) =>
        (own.server.answer = (response) =>
          response.writeHead(302, { location: `${own.server.url}/keys?elsewhere` }).end()),
      "redirect",
    ],
    [
      "is of another issuer",
      (own) => (own.server.document = { issuer: "https://evil.example" }),
      'has the issuer "https://evil.example", not ',
    ],
    [
      "is of a similar issuer",
      (own) => (own.server.document = { issuer: `${own.server.url}/` }),
      "has the issuer ",
    ],
    [
      "has the URL of a file",
      (own) => (own.server.document = { jwks_uri: "file:///etc/passwd" }),
      "has no jwks_uri with https: or http:",
    ],
    [
      "has no URL",
      (own) => (own.server.document = { jwks_uri: 7 }),
      "has no jwks_uri with https: or http:",
    ],
  ])("21 a key set that %s is 503, and the log says why", async (_name, change, why) => {
    change(world);
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    // A slow machine answers the call before it has read this much.
    await expect
      .poll(() => world.warnings.length, { message: "the log warns about the key set" })
      .toBe(1);
    const { error } = world.warnings[0] as { error: Error };
    expect(String(error)).toContain(why);
    // The log appends the message of a cause, which would then be there twice.
    expect(String((error.cause as Error | undefined)?.message)).not.toContain(why);
  });

  test("21 the log has the URL of an unavailable provider, and the error", async () => {
    await world.server.stop();
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    await expect
      .poll(() => world.warnings.length, {
        message: "the log warns about the unavailable provider",
      })
      .toBe(1);
    const [warning] = world.warnings as { error: Error }[];
    expect(String(warning?.error)).toContain(
      `${world.server.url}/.well-known/openid-configuration`,
    );
    expect(String(warning?.error)).toContain("ECONNREFUSED");
  });

  test("has at most 100 keys", async () => {
    const { jwk } = SHARED_KEY;
    world.server.keys = [...Array.from({ length: 99 }, (_, index) => ({ kid: index })), jwk];
    expect(await world.outcome(world.token())).toBe("passed");
  });

  test("21 a slow provider is abandoned", { timeout: 20_000 }, async () => {
    world.server.answer = () => undefined;
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
  });

  test("invalid keys beside the right one are ignored", async () => {
    world.server.keys = [
      null,
      7,
      [],
      {},
      { kty: "oct", k: "AAAA", kid: SHARED_KEY.id },
      { kty: "RSA", kid: "a" },
      { kty: "RSA", kid: "b", n: "!!", e: "AQAB" },
      { kty: "EC", kid: "c", crv: "__proto__", x: "AA", y: "AA" },
      { kty: "EC", kid: "d", crv: "P-256", x: "AA", y: "AA" },
      { ...SHARED_KEY.jwk, use: "enc" },
      { ...SHARED_KEY.jwk, key_ops: ["sign"] },
      { ...SHARED_KEY.jwk, alg: "RSA-OAEP" },
      { ...SHARED_KEY.privateKey.export({ format: "jwk" }), kid: "e" },
      rsaKey("weak", "RS256", 1024).jwk,
      SHARED_KEY.jwk,
    ] as object[];
    expect(await world.outcome(world.token())).toBe("passed");
    expect(await world.outcome(world.token({}, { kid: "e" }))).toBe(UNKNOWN);
    expect(await world.outcome(world.token({}, { kid: "weak" }))).toBe(UNKNOWN);
  });

  test("are read from the configured URL", async () => {
    const own = await JwtWorld.create({ oidc: { jwks_url: `${world.server.url}/keys` } });
    expect(await own.outcome(own.token())).toBe("passed");
    expect(own.server.asked).toEqual([]);
    await own.close();
    const discovered = await JwtWorld.create({
      oidc: {
        issuer: "https://id.example.com/",
        discovery_url: `${world.server.url}/.well-known/openid-configuration`,
      },
    });
    world.server.document = { issuer: "https://id.example.com/" };
    const token = discovered.token({ iss: "https://id.example.com/" });
    expect(await discovered.outcome(token)).toBe("passed");
    expect(await discovered.outcome(discovered.token({ iss: "https://id.example.com" }))).toContain(
      "its issuer is not accepted",
    );
    await discovered.close();
  });
});
