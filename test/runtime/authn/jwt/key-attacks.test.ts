/** Keys and key sets that would let an attacker sign for the provider, or overload the service. */
import { createServer } from "node:http";
import { createServer as createSecureServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fetchKeys } from "../../../../src/runtime/authn/jwt/key-source.ts";
import { readVerificationKey } from "../../../../src/runtime/authn/jwt/verification-key.ts";
import { makeCertificates, opensslIsAbsent } from "../../tls/support/certificates.ts";
import { JwtWorld, SHARED_KEY } from "./jwt-world.ts";
import { ecKey, rsaKey, signToken } from "./tokens.ts";

const UNAVAILABLE = "503 UNAVAILABLE: unavailable";
const UNKNOWN = "401 UNAUTHORIZED: invalid token: its key is unknown";
const SECOND = 1000;
const YEAR = 365 * 86_400 * SECOND;

let world: JwtWorld;
beforeEach(async () => {
  world = await JwtWorld.create();
});
afterEach(() => world.close());

describe("a key of the key set that is not used", () => {
  const { jwk } = SHARED_KEY;
  const secret = SHARED_KEY.privateKey.export({ format: "jwk" }) as Record<string, unknown>;
  const curve = ecKey("ec").jwk;
  test.each<[string, object]>([
    ["an exponent of 1, with which every text is its own signature", { ...jwk, e: "AQ" }],
    ["an even exponent", { ...jwk, e: "Ag" }],
    ["an exponent as long as the key", { ...jwk, e: jwk["n"] }],
    ...["d", "p", "q", "dp", "dq", "qi"].map((name): [string, object] => [
      `a private key, by its ${name}`,
      { ...jwk, [name]: secret[name] },
    ]),
    ["a private key of more primes", { ...jwk, oth: [] }],
    ["a private key on a curve", { ...curve, d: "AA" }],
    ["a key of no type", { ...jwk, kty: undefined }],
    ["a key of another type", { ...jwk, kty: "OKP" }],
    ["more than 8192 bits", { ...jwk, n: Buffer.alloc(1025, 255).toString("base64url") }],
    ["an exponent of more than 32 bits", { ...jwk, e: "AQAAAAE" }],
    ["1024 bits", rsaKey("weak", "RS256", 1024).jwk],
    ["2047 bits", rsaKey("weak", "RS256", 2047).jwk],
    ["a symmetric key", { kty: "oct", k: "AAAA", kid: "x" }],
    ["a symmetric key that says it is RSA", { ...jwk, k: "AAAA" }],
    ["for encryption", { ...jwk, use: "enc" }],
    ["for encryption, by its operations", { ...jwk, key_ops: ["encrypt", "wrapKey"] }],
    ["operations that are a text", { ...jwk, key_ops: "verify" }],
    ["an algorithm of encryption", { ...jwk, alg: "RSA-OAEP-256" }],
    ["the algorithm of another type", { ...jwk, alg: "ES256" }],
    ["the algorithm of another curve", { ...curve, alg: "ES512" }],
    ["a list of algorithms", { ...jwk, alg: ["RS256"] }],
    ["a curve that its point is not on", { ...curve, crv: "P-521" }],
    ["a point on no curve", { ...curve, y: curve["x"] }],
    ["a curve that is not accepted", { ...curve, crv: "secp256k1" }],
    ["a key id that is a number", { ...jwk, kid: 1 }],
  ])("%s", (_name, key) => {
    const accepted = new Set(["RS256", "RS512", "ES256", "ES512"]);
    expect(readVerificationKey(key as never, accepted)).toBeUndefined();
    expect(readVerificationKey(jwk, accepted)).toBeDefined();
  });

  test.each<[string, object, string[]]>([
    ["RSA with its algorithm", jwk, ["RS256"]],
    ["RSA without one", { ...jwk, alg: undefined }, ["RS256", "RS512"]],
    ["RSA with an exponent of 3", { ...jwk, e: "Aw" }, ["RS256"]],
    ["RSA of 8192 bits", { ...jwk, n: Buffer.alloc(1024, 255).toString("base64url") }, ["RS256"]],
    ["RSA with the largest exponent", { ...jwk, e: "_____w" }, ["RS256"]],
    ["operations, verify among them", { ...jwk, key_ops: ["sign", "verify"] }, ["RS256"]],
    ["without use and id", { ...jwk, use: undefined, kid: undefined }, ["RS256"]],
    ["P-256", { ...curve, alg: undefined }, ["ES256"]],
    ["P-521", { ...ecKey("p", "ES512").jwk, alg: undefined }, ["ES512"]],
  ])("but one that is fine verifies what it is for: %s", (_name, key, algorithms) => {
    const all = new Set(["RS256", "RS512", "ES256", "ES512"]);
    const read = readVerificationKey(key as never, all);
    expect([...(read?.algorithms ?? [])]).toEqual(algorithms);
    expect(read?.key.type).toBe("public");
    expect(readVerificationKey(key as never, new Set(["HS256"]))).toBeUndefined();
  });

  test("two keys with one id are not confused", async () => {
    world.server.keys = [rsaKey(SHARED_KEY.id).jwk, jwk];
    expect(await world.outcome(world.token())).toBe(UNKNOWN);
  });

  test("a key of another type with the same id is not in the way", async () => {
    world.server.keys = [{ ...curve, kid: SHARED_KEY.id }, jwk];
    expect(await world.outcome(world.token())).toBe("passed");
    expect(await world.outcome(world.token({}, { alg: "ES256" }))).toContain("signature is wrong");
  });
});

describe("a provider that redirects", () => {
  test.each([301, 302, 303, 307, 308])("with %i is not followed", async (status) => {
    let asked = 0;
    const inside = createServer((_request, response) => {
      asked++;
      response.end(JSON.stringify({ keys: [SHARED_KEY.jwk] }));
    });
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
    const location = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/latest/meta-data`;
    world.server.answer = (response) => void response.writeHead(status, { location }).end();
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    expect(asked).toBe(0);
    await new Promise((resolve) => inside.close(resolve));
  });

  test.each([
    "file:///etc/passwd",
    "data:application/json,{}",
    "blob:nodedata:x",
    "ftp://127.0.0.1/keys",
    "javascript:1",
    "//127.0.0.1/keys",
    "/keys",
    "",
    "http://user:pass@127.0.0.1/keys",
  ])("by the address %j is not read", async (address) => {
    world.server.document = { jwks_uri: address };
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    expect(world.server.keyReads).toBe(0);
  });

  test("with two Location headers is not read", async () => {
    world.server.document = { jwks_uri: [`${world.server.url}/keys`] };
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
  });
});

describe.skipIf(opensslIsAbsent())("a provider over TLS", () => {
  const certificates = makeCertificates();
  const authority = certificates.authority("ca");
  const { certificate, key } = authority.issue("provider", { names: "DNS:localhost" });
  const before = getCACertificates("default");
  const algorithms = new Set(["RS256"]);
  let server: Server;
  let origin: string;
  let keySet: string;

  beforeAll(async () => {
    setDefaultCACertificates([...before, authority.certificate.toString()]);
    server = createSecureServer({ cert: certificate, key }, (request, response) => {
      const isDocument = request.url === "/.well-known/openid-configuration";
      const keys = { keys: [SHARED_KEY.jwk] };
      response.end(JSON.stringify(isDocument ? { issuer: origin, jwks_uri: keySet } : keys));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    setDefaultCACertificates(before);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    certificates.remove();
  });

  test("may have keys over TLS", async () => {
    keySet = `${origin}/keys`;
    expect(await fetchKeys({ issuer: origin, algorithms })).toHaveLength(1);
  });

  test("must not have keys over plain HTTP", async () => {
    world.server.keys = [SHARED_KEY.jwk];
    keySet = `${world.server.url}/keys`;
    await expect(fetchKeys({ issuer: origin, algorithms })).rejects.toThrow(
      "has no jwks_uri with https:",
    );
    expect(world.server.keyReads).toBe(0);
  });
});

describe("a key set that exhausts resources", () => {
  const compressed = (body: Buffer | string) => {
    world.server.answer = (response) =>
      void response.setHeader("content-encoding", "gzip").end(gzipSync(body));
  };

  test("of 50 MB in 50 kB is abandoned at 1 MiB", async () => {
    compressed(Buffer.alloc(50_000_000, " "));
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    // A slow machine answers the call before it has read this much.
    await expect
      .poll(() => world.warnings.length, { message: "the log warns about the key set" })
      .toBe(1);
    expect(String((world.warnings[0] as { error: Error }).error)).toContain(
      "more than 1048576 bytes",
    );
  });

  test("that is nested too deeply is refused, and does not end the process", async () => {
    compressed(`{"keys":${"[".repeat(500_000)}${"]".repeat(500_000)}}`);
    expect(await world.outcome(world.token())).toBe(UNKNOWN);
  });

  test("with a key twice in one object is not read", async () => {
    const text = JSON.stringify({ keys: [SHARED_KEY.jwk] });
    world.server.answer = (response) =>
      void response.end(text.replace("{", '{"keys":[],').replace("[{", '[{"kid":"x",'));
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
  });
});

describe("a clock that is set back", () => {
  const next = ecKey("key-2");

  test("does not keep a withdrawn key longer", async () => {
    world.time += YEAR;
    expect(await world.outcome(world.token())).toBe("passed");
    world.time -= YEAR;
    world.server.keys = [next.jwk];
    world.time += 1;
    expect(await world.outcome(world.token())).toBe("passed");
    world.time += 600 * SECOND;
    expect(await world.outcome(world.token())).toBe(UNKNOWN);
    expect(await world.outcome(signToken(next, world.claims()))).toBe("passed");
  });

  test("does not accept a cached token before its time", async () => {
    world.time += YEAR;
    const token = world.token();
    expect(await world.outcome(token)).toBe("passed");
    world.time -= YEAR;
    expect(await world.outcome(token)).toContain("it is not valid yet");
  });

  test("does not delay the next request to a failed provider", async () => {
    world.time += YEAR;
    await world.server.stop();
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    await world.server.start();
    world.time -= YEAR;
    expect(await world.outcome(world.token())).toBe(UNAVAILABLE);
    world.time += 5 * SECOND;
    expect(await world.outcome(world.token())).toBe("passed");
  });

  test("does not delay the discovery of a new key", async () => {
    world.time += YEAR;
    expect(await world.outcome(signToken(next, world.claims()))).toBe(UNKNOWN);
    expect(await world.outcome(signToken(next, world.claims()))).toBe(UNKNOWN);
    world.time -= YEAR;
    world.server.keys = [SHARED_KEY.jwk, next.jwk];
    expect(await world.outcome(world.token())).toBe("passed");
    world.time += 31 * SECOND;
    expect(await world.outcome(signToken(next, world.claims()))).toBe("passed");
  });
});
