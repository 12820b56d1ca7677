import { writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryRevocationList, type Revocation } from "../../../src/runtime/index.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { KeyServer } from "../authn/jwt/key-server.ts";
import { rsaKey } from "../authn/jwt/tokens.ts";
import { tokenSource } from "../hostile/support/tokens.ts";
import { INTERNAL_TOKEN, type RunningVault } from "../support/vault-server.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";
import { tlsOf } from "../tls/support/secured.ts";
import {
  callWith,
  type FeedServer,
  metricLines,
  readyz,
  startFeed,
  startFollower,
} from "./services.ts";

const issuer = new KeyServer();
const key = rsaKey("one");
const { token } = tokenSource(() => issuer.url, key);
const HOUR = 3_600_000;
const inAnHour = () => Date.now() + HOUR;
const session = (sessionId: string): Revocation => ({ sessionId, keepUntil: inAnHour() });

beforeAll(async () => {
  issuer.keys = [key.jwk];
  await issuer.start();
});
afterAll(() => issuer.stop());

const UNKNOWN = "503 it is not known now whether the token was revoked";
const REVOKED = "401 invalid token: it was revoked";

/** Moves the clock that no change of the time moves; as it is after the test. */
let ahead = 0;
function pass(milliseconds: number): void {
  if (ahead === 0) {
    const real = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => real() + ahead);
  }
  ahead += milliseconds;
}
afterEach(() => {
  ahead = 0;
  vi.restoreAllMocks();
});

async function started<Running extends { stop(): Promise<unknown> }>(
  starting: Promise<Running>,
): Promise<Running> {
  const running = await starting;
  onTestFinished(async () => void (await running.stop().catch(() => undefined)));
  return running;
}

/** Waits until the service has heard of all revocations. */
function untilCurrent(vault: RunningVault): Promise<void> {
  return until("the revocations are known", async () => {
    const { code, details } = (await readyz(vault)) as { code: number; details?: unknown };
    return code === 200 && details === undefined;
  });
}

async function feedAndTwo(port: number): Promise<[FeedServer, RunningVault, RunningVault]> {
  const iam = await started(startFeed({ address: `127.0.0.1:${port}` }));
  const revocation = { endpoint: `127.0.0.1:${port}`, insecure: true };
  const one = await started(startFollower(issuer.url, revocation));
  const two = await started(startFollower(issuer.url, revocation));
  await untilCurrent(one);
  await untilCurrent(two);
  return [iam, one, two];
}

test("what is revoked is refused by each service within a second, and nothing else [AUTHN-13]", async () => {
  const [iam, ...services] = await feedAndTwo(await freePort());
  const revocations: [Revocation, revoked: object, other: object][] = [
    [session("s1"), { sid: "s1", jti: "a" }, { sid: "s2", jti: "s1" }],
    [{ tokenId: "t1", keepUntil: inAnHour() }, { jti: "t1" }, { jti: "t2", sid: "t1" }],
    [
      {
        subject: { type: "user", id: "bob", issuedUntil: Date.now() - 5000 },
        keepUntil: inAnHour(),
      },
      { sub: "bob" },
      { sub: "bob", iat: Math.floor(Date.now() / 1000) },
    ],
  ];
  for (const [revocation, of, otherOf] of revocations) {
    const [revoked, other] = [token({ ...of }), token({ ...otherOf })];
    for (const service of services) expect(await callWith(service, revoked)).toMatch(/^200 /);
    iam.feed.publish(revocation);
    const begin = performance.now();
    for (const service of services) {
      await until("it is refused", async () => (await callWith(service, revoked)) === REVOKED);
      expect(performance.now() - begin).toBeLessThan(1000);
      expect(await callWith(service, other)).toMatch(/^200 /);
    }
  }
  for (const service of services) {
    expect(await metricLines(service, "svc_access_revocations")).toEqual([
      "svc_access_revocations 3",
      "svc_access_revocations_current 1",
    ]);
  }
});

test("10 seconds after IAM was lost tokens are 503, other calls are served, and all is well when it is back [AUTHN-13]", async () => {
  const port = await freePort();
  const [iam, service] = await feedAndTwo(port);
  const [good, ended] = [token({ sid: "good" }), token({ sid: "ended" })];
  iam.feed.publish(session("ended"));
  await until("it is refused", async () => (await callWith(service, ended)) === REVOKED);
  await iam.stop();
  expect(await callWith(service, good)).toBe("200 alice");
  pass(10_000);
  expect(await callWith(service, good)).toBe(UNKNOWN);
  expect(await callWith(service, ended)).toBe(REVOKED);
  expect(await callWith(service, undefined)).toBe("401 missing principal");
  expect(await readyz(service)).toEqual({
    code: 200,
    status: "ready",
    details: ["revocations: nothing was received for 10 seconds, so tokens are refused"],
  });
  expect(await metricLines(service, "svc_access_revocations_current")).toEqual([
    "svc_access_revocations_current 0",
  ]);
  const lost = service.lines.find((line) => line.includes("are not known"));
  expect(JSON.parse(lost ?? "{}")).toMatchObject({ level: "error", reason: expect.any(String) });
  // Another process: it does not know the position, and no session that ended before.
  const other = await started(
    startFeed({ address: `127.0.0.1:${port}` }, { initial: [session("b")] }),
  );
  await untilCurrent(service);
  expect(other.positions.every((position) => position !== "")).toBe(true);
  expect(await callWith(service, good)).toBe("200 alice");
  expect(await callWith(service, ended)).toBe(REVOKED);
  expect(await callWith(service, token({ sid: "b" }))).toBe(REVOKED);
});

test("a broken stream continues where it was", async () => {
  const [iam, service] = await feedAndTwo(await freePort());
  const first = iam.positions.length;
  iam.feed.publish(session("s1"));
  await until("s1", async () => (await callWith(service, token({ sid: "s1" }))) === REVOKED);
  iam.breakOff();
  iam.feed.publish(session("s2"));
  await until("s2", async () => (await callWith(service, token({ sid: "s2" }))) === REVOKED);
  expect(await callWith(service, token({ sid: "s1" }))).toBe(REVOKED);
  expect(await callWith(service, token({ sid: "s3" }))).toBe("200 alice");
  const resumed = iam.positions.slice(first);
  expect(resumed.length).toBeGreaterThan(0);
  for (const position of resumed) expect(position).toMatch(/^.{36}\.1$/);
});

test("a service that IAM does not know, or that cannot reach it, serves calls without a token only", async () => {
  const port = await freePort();
  await started(startFeed({ address: `127.0.0.1:${port}` }));
  const wrong = { endpoint: `127.0.0.1:${port}`, token: `${INTERNAL_TOKEN}x`, insecure: true };
  const absent = { endpoint: `127.0.0.1:${await freePort()}`, insecure: true };
  for (const [revocation, reason] of [
    [wrong, "IAM does not accept the internal token of this service"],
    [absent, "they were not received yet"],
  ] as const) {
    const service = await started(startFollower(issuer.url, revocation));
    await until("it was tried", () => service.lines.some((line) => line.includes("has ended")));
    expect(await callWith(service, token())).toBe(UNKNOWN);
    expect(await callWith(service, undefined)).toBe("401 missing principal");
    const notReady = {
      code: 503,
      status: "not_ready",
      reasons: [`revocations: ${reason}, so tokens are refused`],
    };
    await until("/readyz says so", async () => isDeepStrictEqual(await readyz(service), notReady));
    const errors = service.lines.filter((line) => JSON.parse(line).level === "error");
    expect(errors.map((line) => JSON.parse(line).message)).toEqual(
      revocation === wrong
        ? [expect.stringContaining("must be one of security.authn.internal_call.token of IAM")]
        : [],
    );
    expect(service.lines.join("")).not.toContain(INTERNAL_TOKEN);
  }
});

test("in hybrid the headers of the gateway do not make up for it", async () => {
  const revocation = { endpoint: `127.0.0.1:${await freePort()}`, insecure: true };
  const authn = { mode: "hybrid", gateway: { trusted_peers: ["127.0.0.1/32"] } };
  const service = await started(startFollower(issuer.url, revocation, authn));
  const alice = { "x-svc-external-sub": "alice" };
  expect(await callWith(service, token(), alice)).toBe(UNKNOWN);
  expect(await callWith(service, undefined, alice)).toBe("200 alice");
});

test("with on_loss serve they are accepted, and the log warns of it", async () => {
  const revocation = {
    endpoint: `127.0.0.1:${await freePort()}`,
    insecure: true,
    on_loss: "serve",
  };
  const service = await started(startFollower(issuer.url, revocation));
  expect(await callWith(service, token())).toBe("200 alice");
  expect(await readyz(service)).toEqual({
    code: 200,
    status: "ready",
    details: ["revocations: they were not received yet; on_loss is serve"],
  });
  expect(service.lines.join("")).toContain("security.authn.revocation.on_loss is serve");
});

test("its own list counts as well", async () => {
  const port = await freePort();
  await started(startFeed({ address: `127.0.0.1:${port}` }, { initial: [session("s1")] }));
  const revocations = new MemoryRevocationList();
  revocations.revokeToken("t1", inAnHour());
  const revocation = { endpoint: `127.0.0.1:${port}`, insecure: true };
  const service = await started(startFollower(issuer.url, revocation, {}, { revocations }));
  await untilCurrent(service);
  expect(await callWith(service, token({ sid: "s1" }))).toBe(REVOKED);
  expect(await callWith(service, token({ jti: "t1" }))).toBe(REVOKED);
  expect(await callWith(service, token({ jti: "t2" }))).toBe("200 alice");
});

describe.skipIf(opensslIsAbsent())("over TLS", () => {
  let certificates: Certificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });
  afterAll(() => certificates.remove());

  test("both show certificates, and files are read again for each connection", async () => {
    const ca = certificates.authority("ca");
    const other = certificates.authority("other");
    const server = ca.issue("iam", { names: "DNS:localhost" });
    const client = ca.issue("service", { names: "DNS:service", usage: "clientAuth" });
    const port = await freePort();
    const iam = await started(
      startFeed(
        { address: `127.0.0.1:${port}`, tls: tlsOf(server, ca) },
        { initial: [session("s1")] },
      ),
    );
    const caFile = certificates.path("trusted.pem");
    writeFileSync(caFile, other.certificate);
    const files = {
      ca_file: caFile,
      certificate_file: client.certificateFile,
      key_file: client.keyFile,
    };
    const service = await started(
      startFollower(issuer.url, { endpoint: `localhost:${port}`, ...files }),
    );
    await until("it was tried", () => service.lines.some((line) => line.includes("has ended")));
    expect(await callWith(service, token())).toBe(UNKNOWN);
    expect(iam.positions).toEqual([]);
    writeFileSync(caFile, ca.certificate);
    await untilCurrent(service);
    expect(await callWith(service, token())).toBe("200 alice");
    expect(await callWith(service, token({ sid: "s1" }))).toBe(REVOKED);
  });
});

test("certificates that cannot be used prevent the start", async () => {
  const endpoint = "127.0.0.1:1";
  for (const file of ["/nowhere/ca.pem", import.meta.filename]) {
    const starting = startFollower(issuer.url, { endpoint, ca_file: file });
    await expect(starting).rejects.toThrow(/: security\.authn\.revocation cannot be used: /);
  }
});
