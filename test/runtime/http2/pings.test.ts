/** Clients that ping, on both ports. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { frame, rawCall } from "../grpc/support/raw-call.ts";
import { FRAME, RawHttp2, rawFrame } from "../hostile/support/raw-http2.ts";
import { type RunningVault, startVault } from "../support/vault-server.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";
import { startSecured, tlsOf } from "../tls/support/secured.ts";

const PORTS = ["grpc", "http"] as const;
const NOTICE = "/acme.vault.v1.VaultService/GetNotice";
const PING = rawFrame(FRAME.PING, 0, 0, Buffer.alloc(8));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

function opened(session: ClientHttp2Session): ClientHttp2Session {
  session.on("error", () => undefined);
  closing.push(() => session.destroy());
  return session;
}

function ping(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    session.ping((error) => (error === null ? resolve() : reject(error)));
  });
}

/** Pings after each of many calls, and with the last one a few times more. */
async function pingAmongCalls(session: ClientHttp2Session): Promise<void> {
  for (let call = 0; call < 20; call++) {
    expect((await rawCall(session, NOTICE, {}, frame(new Uint8Array()))).httpStatus).toBe(200);
    await ping(session);
  }
}

describe.each(PORTS)("on the port of %s", (port) => {
  let vault: RunningVault;
  beforeAll(async () => {
    vault = await startVault();
  });
  afterAll(() => vault.stop());

  test.each([
    ["at once", async (client: RawHttp2) => client.send(PING, PING, PING, PING)],
    [
      "one by one",
      async (client: RawHttp2) => {
        for (let sent = 0; sent < 4; sent++) await client.send(PING);
      },
    ],
  ])(
    "a client that pings without calls gets ENHANCE_YOUR_CALM, and why: %s",
    async (_name, send) => {
      const client = new RawHttp2(vault[port]);
      closing.push(() => client.end());
      await send(client);
      const goaway = await client.frame(({ type }) => type === FRAME.GOAWAY);
      expect(goaway?.payload.readUInt32BE(4)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      expect(goaway?.payload.subarray(8).toString()).toBe("too_many_pings");
      await client.closed;
    },
  );

  test("a client that pings each 10 s is served for long", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const session = opened(connect(`http://127.0.0.1:${vault[port]}`));
    await once(session, "connect");
    for (let sent = 0; sent < 30; sent++) {
      vi.advanceTimersByTime(10_000);
      await ping(session);
    }
    expect((await rawCall(session, NOTICE)).httpStatus).toBe(200);
  });

  test("a client that gets responses may ping without limit", async () => {
    await pingAmongCalls(opened(connect(`http://127.0.0.1:${vault[port]}`)));
  });
});

describe.skipIf(opensslIsAbsent()).each(PORTS)("on the port of %s, with TLS", (port) => {
  let certificates: Certificates;
  let vault: RunningVault;
  let ca: Buffer;
  beforeAll(async () => {
    certificates = makeCertificates();
    const authority = certificates.authority("ca");
    const own = authority.issue("server", { names: "DNS:localhost" });
    ca = authority.certificate;
    vault = await startSecured({ tls: tlsOf(own) });
  });
  afterAll(async () => {
    await vault?.stop();
    certificates?.remove();
  });
  let session: ClientHttp2Session;
  beforeEach(() => {
    session = opened(connect(`https://localhost:${vault[port]}`, { ca }));
  });

  test("a client that gets responses may ping without limit", () => pingAmongCalls(session));

  test("a client that pings without calls gets ENHANCE_YOUR_CALM", async () => {
    const reported = once(session, "goaway");
    await once(session, "remoteSettings");
    for (let sent = 0; sent < 4; sent++) session.ping(() => undefined);
    expect((await reported)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});
