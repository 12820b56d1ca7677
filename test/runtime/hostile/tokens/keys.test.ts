/** The provider's keys and the cache of verified tokens, through the whole server. */
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { MemoryRevocationList } from "../../../../src/runtime/index.ts";
import { KeyServer } from "../../authn/jwt/key-server.ts";
import { rsaKey, signToken } from "../../authn/jwt/tokens.ts";
import { outcome } from "../support/send.ts";
import { nowSeconds, tokenSource } from "../support/tokens.ts";
import { startWorld, type World, type WorldOptions } from "../support/world.ts";

const key = rsaKey("one");
const rotated = rsaKey("two");
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function startIssuer(): Promise<KeyServer> {
  const issuer = new KeyServer();
  issuer.keys = [key.jwk];
  await issuer.start();
  ends.push(() => issuer.stop());
  return issuer;
}

async function start(issuer: KeyServer, options: Partial<WorldOptions> = {}): Promise<World> {
  const world = await startWorld({ mode: "idp_jwt", issuer: issuer.url, ...options });
  ends.unshift(() => world.stop());
  return world;
}

const call = (world: World, text: string, exposure: "PUBLIC" | "AUTHENTICATED" = "AUTHENTICATED") =>
  outcome(world, "http", exposure, { fields: [["Authorization", `Bearer ${text}`]] });

test("21 a flood of unknown kids does not reach the provider", async () => {
  const issuer = await startIssuer();
  const world = await start(issuer);
  const { claims, token } = tokenSource(() => issuer.url, key);
  expect(await call(world, token())).toBe("200 alice");
  const stranger = rsaKey("x");
  for (let index = 0; index < 200; index++) {
    const text = signToken({ ...stranger, id: `kid-${index}` }, claims());
    expect(await call(world, text)).toBe("401 UNAUTHORIZED");
  }
  expect(issuer.keyReads).toBeLessThanOrEqual(2);
  expect(await call(world, token())).toBe("200 alice");
});

test("21 a new key is found at its first use", async () => {
  const issuer = await startIssuer();
  const world = await start(issuer);
  const { claims, token } = tokenSource(() => issuer.url, key);
  expect(await call(world, token())).toBe("200 alice");
  issuer.keys = [key.jwk, rotated.jwk];
  expect(await call(world, signToken(rotated, claims({ sub: "bob" })))).toBe("200 bob");
});

const BROKEN: Readonly<Record<string, (issuer: KeyServer) => void>> = {
  "21 a key set of status 500": (issuer) => {
    issuer.answer = (response) => void response.writeHead(500).end();
  },
  "21 a huge key set": (issuer) => {
    issuer.answer = (response) => void response.end(`{"keys":["${"x".repeat(3_000_000)}"]}`);
  },
  "21 a key set of ten thousand keys": (issuer) => {
    issuer.keys = new Array(10_000).fill(key.jwk);
  },
  "21 a key set that is not JSON": (issuer) => {
    issuer.answer = (response) => void response.end("<html>");
  },
  "21 a key set that redirects": (issuer) => {
    issuer.answer = (response) =>
      void response.writeHead(302, { location: `${issuer.url}/keys?elsewhere` }).end();
  },
  "21 a discovery document of another issuer": (issuer) => {
    issuer.document = { issuer: "http://evil.example" };
  },
  "21 an unavailable provider": (issuer) => void issuer.stop(),
};

test.each(Object.entries(BROKEN))(
  "%s is 503, and never identifies a caller",
  async (_title, hurt) => {
    const issuer = await startIssuer();
    const { token } = tokenSource(() => issuer.url, key);
    const text = token();
    hurt(issuer);
    const world = await start(issuer);
    expect(await call(world, text)).toBe("503 UNAVAILABLE");
    expect(await call(world, text, "PUBLIC")).toBe("200 -");
  },
);

test("21 a key set that never arrives is 504 at the call's own deadline", async () => {
  const issuer = await startIssuer();
  issuer.answer = () => undefined;
  const address = { address: "127.0.0.1:0" };
  const config = { server: { http: { ...address, timeout_ns: 500_000_000 }, grpc: address } };
  const world = await start(issuer, { config });
  const { token } = tokenSource(() => issuer.url, key);
  expect(await call(world, token())).toBe("504 DEADLINE_EXCEEDED");
  // The provider responds late: requests to it must end before the test does.
  issuer.answer = undefined;
});

test("26 a cached token is refused once it has expired", async () => {
  const issuer = await startIssuer();
  const world = await start(issuer, { oidc: { clock_skew_ns: 0 } });
  const { token } = tokenSource(() => issuer.url, key);
  const text = token({ exp: nowSeconds() + 60 });
  expect(await call(world, text)).toBe("200 alice");
  vi.setSystemTime(Date.now() + 60_000);
  onTestFinished(() => void vi.useRealTimers());
  expect(await call(world, text)).toBe("401 UNAUTHORIZED");
});

test("26 a cached token is refused once its key is withdrawn", async () => {
  const issuer = await startIssuer();
  const world = await start(issuer, { oidc: { jwks_cache_ttl_ns: 60_000_000_000 } });
  const { claims, token } = tokenSource(() => issuer.url, key);
  const text = token();
  expect(await call(world, text)).toBe("200 alice");
  issuer.keys = [rotated.jwk];
  vi.setSystemTime(Date.now() + 61_000);
  onTestFinished(() => void vi.useRealTimers());
  expect(await call(world, text)).toBe("401 UNAUTHORIZED");
  expect(await call(world, signToken(rotated, claims()))).toBe("200 alice");
});

test("26 a cached token is refused once it, or its subject, is revoked [AUTHN-6]", async () => {
  const issuer = await startIssuer();
  const revocations = new MemoryRevocationList();
  const world = await start(issuer, { revocations });
  const { token } = tokenSource(() => issuer.url, key);
  const later = Date.now() + 600_000;
  const [one, other] = [token({ jti: "1" }), token({ sub: "bob" })];
  expect(await call(world, one)).toBe("200 alice");
  expect(await call(world, other)).toBe("200 bob");
  revocations.revokeToken("1", later);
  expect(await call(world, one)).toBe("401 UNAUTHORIZED");
  expect(await call(world, other)).toBe("200 bob");
  revocations.revokeSubject("bob", later);
  expect(await call(world, other)).toBe("401 UNAUTHORIZED");
  expect(await call(world, token({ jti: "2" }))).toBe("200 alice");
});

test("26 a token that one server has cached is not valid for a server of another issuer", async () => {
  const [mine, theirs] = [await startIssuer(), await startIssuer()];
  const [world, other] = [await start(mine), await start(theirs)];
  const { token } = tokenSource(() => mine.url, key);
  const text = token();
  expect(await call(world, text)).toBe("200 alice");
  // The same key signs for both issuers.
  expect(await call(other, text)).toBe("401 UNAUTHORIZED");
  expect(await call(world, text)).toBe("200 alice");
});
