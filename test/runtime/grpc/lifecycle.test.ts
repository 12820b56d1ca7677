import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { connect as connectSocket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Call } from "../../../src/runtime/call/call.ts";
import { createGrpcClient } from "../../../src/runtime/client/grpc/grpc-client.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { StartUpError } from "../../../src/runtime/error/start-up-error.ts";
import { type EchoRequest, EchoService } from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const ECHO = "/fixture.v1.EchoService/Echo";

describe("listen", () => {
  test("an address in use", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port)),
    );
    const attempt = startEchoServer({ config: { address: `127.0.0.1:${port}` } });
    await expect(attempt).rejects.toThrow(StartUpError);
    await expect(attempt).rejects.toThrow(/127\.0\.0\.1:\d+ \(server.grpc.address\).*in use/);
    taken.close();
  });

  test.each([
    { address: "203.0.113.7:0", why: /does not have the address/ },
    { address: "host.invalid:0", why: /host name is not known|EAI_AGAIN/ },
  ])("$address", async ({ address, why }) => {
    await expect(startEchoServer({ config: { address } })).rejects.toThrow(why);
  });

  test("IPv6, where a peer is reported without brackets and port", async () => {
    let call: Call | undefined;
    const authentication = (each: Call) => void (call = each);
    const echo = await startEchoServer({
      config: { address: "[::]:0" },
      chain: { authentication },
    });
    const session = rawSession(echo.port);
    expect((await rawCall(session, ECHO)).grpcStatus).toBe(0);
    expect(call?.peer).toEqual({ address: "127.0.0.1", certificateNames: [] });
    const { peer } = call as Call;
    await rawCall(session, ECHO);
    expect(call?.peer).toBe(peer);
    session.destroy();
    await echo.close();
  });
});

describe("the end", () => {
  test("drain waits for running calls, and accepts no more", async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => (finish = resolve));
    let begun = false;
    const handlers = {
      echo: async (request: EchoRequest) => {
        begun = true;
        await held;
        return { text: request.text };
      },
    };
    const echo = await startEchoServer({ handlers });
    const session = rawSession(echo.port);
    const goaway = new Promise((resolve) => session.once("goaway", resolve));
    const call = rawCall(session, ECHO);
    await expect.poll(() => begun, { message: "the handler begins" }).toBe(true);
    let drained = false;
    const drain = echo.server.drain().then(() => (drained = true));
    await goaway;
    const late = connectSocket(echo.port, "127.0.0.1");
    await new Promise((resolve) => late.once("error", resolve));
    expect(drained).toBe(false);
    finish();
    expect((await call).grpcStatus).toBe(0);
    await drain;
    await echo.close();
  });

  test("drain does not wait for connections without calls", async () => {
    const echo = await startEchoServer();
    const session = rawSession(echo.port);
    await rawCall(session, ECHO);
    await echo.server.drain();
    await expect
      .poll(() => session.closed, { message: "the server closes the idle connection" })
      .toBe(true);
  });

  test.each([
    ["before its request was read", { "grpc-timeout": "x" }],
    ["after it", {}],
  ])("drain does not wait for a call that failed %s", async (_, headers) => {
    const handlers = { echo: () => Promise.reject(new ServiceError("FORBIDDEN")) };
    const echo = await startEchoServer({ handlers });
    const session = rawSession(echo.port);
    expect((await rawCall(session, ECHO, headers)).grpcStatus).not.toBe(0);
    await echo.server.drain();
    await expect
      .poll(() => session.closed, {
        message: "the server closes the connection of the failed call",
      })
      .toBe(true);
  });

  test("close ends running calls", async () => {
    let begun = false;
    let reason: unknown;
    const handlers = {
      echo: (_request: EchoRequest, { signal }: Call) =>
        new Promise((resolve) => {
          begun = true;
          signal.addEventListener("abort", () => resolve((reason = signal.reason)));
        }),
    };
    const echo = await startEchoServer({ handlers });
    const session = rawSession(echo.port);
    const call = rawCall(session, ECHO);
    await expect.poll(() => begun, { message: "the handler begins" }).toBe(true);
    await echo.close();
    expect((await call).grpcStatus).toBeUndefined();
    expect(reason).toMatchObject({ code: "CANCELLED" });
    // Once more does no harm.
    await echo.close();
  });
});

describe("40: limits of a connection", () => {
  test.each([
    { name: "too many headers", headers: Object.fromEntries(many(200)) },
    { name: "headers too large", headers: { "x-large": "x".repeat(40_000) } },
  ])("$name", async ({ headers }) => {
    const echo = await startEchoServer();
    const session = rawSession(echo.port);
    // The limits bind a client once it has acknowledged them.
    expect((await rawCall(session, ECHO)).grpcStatus).toBe(0);
    expect((await rawCall(session, ECHO, headers)).grpcStatus).toBeUndefined();
    session.destroy();
    const other = rawSession(echo.port);
    expect((await rawCall(other, ECHO)).grpcStatus).toBe(0);
    other.destroy();
    await echo.close();
  });

  test("rapid reset ends the connection", async () => {
    let begun = 0;
    const authentication = () => void begun++;
    const echo = await startEchoServer({
      chain: { authentication },
      options: { limits: { resetBurst: 50, resetsPerSecond: 10 } },
    });
    const session = rawSession(echo.port);
    await new Promise((resolve) => session.once("connect", resolve));
    const closed = new Promise((resolve) => session.once("close", resolve));
    for (let round = 0; round < 50 && !session.destroyed && !session.closed; round++) {
      for (let count = 0; count < 20 && !session.destroyed && !session.closed; count++) {
        const stream = session.request({
          ":method": "POST",
          ":path": ECHO,
          "content-type": "application/grpc",
        });
        stream.on("error", () => undefined);
        stream.close(8);
      }
      await sleep(5);
    }
    await closed;
    expect(begun).toBeLessThan(500);
    const other = rawSession(echo.port);
    expect((await rawCall(other, ECHO)).grpcStatus).toBe(0);
    other.destroy();
    await echo.close();
  });

  test("no more streams at a time than allowed", async () => {
    const echo = await startEchoServer({
      handlers: { echo: () => new Promise(() => undefined) },
      options: { limits: { maxConcurrentStreams: 5 } },
    });
    const session = rawSession(echo.port);
    await new Promise((resolve) => session.once("remoteSettings", resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(5);
    session.destroy();
    await echo.close();
  });

  test("a peer that does not answer pings is disconnected", async () => {
    const echo = await startEchoServer({ options: { limits: { keepaliveMs: 100 } } });
    const socket = connectSocket(echo.port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    // The preface and empty settings; what the server asks then is never answered.
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await closed;
    await echo.close();
  });

  test("bytes that are not HTTP/2", async () => {
    const echo = await startEchoServer();
    const socket = connectSocket(echo.port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined).resume();
    socket.end("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await closed;
    const session = rawSession(echo.port);
    expect((await rawCall(session, ECHO)).grpcStatus).toBe(0);
    session.destroy();
    await echo.close();
  });

  test("many idle connections, which a drain ends", async () => {
    const echo = await startEchoServer();
    const sessions = Array.from({ length: 300 }, () => rawSession(echo.port));
    await Promise.all(
      sessions.map((session) => new Promise((resolve) => session.once("connect", resolve))),
    );
    expect((await rawCall(sessions[299] as never, ECHO)).grpcStatus).toBe(0);
    await echo.server.drain();
    await expect
      .poll(() => sessions.every((session) => session.closed), {
        message: "the server closes every idle connection",
      })
      .toBe(true);
    await echo.close();
  });
});

describe("TLS", () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-access-grpc-"));
    makeCertificates(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    {
      name: "no such file",
      tls: { certificate_file: "nowhere.pem", key_file: "nowhere.key" },
      why: /certificate_file cannot be read.*[\s\S]*key_file cannot be read/,
    },
    {
      name: "a key that does not fit",
      tls: { certificate_file: "server.pem", key_file: "client.key" },
      why: /a certificate and key that do not match/,
    },
    {
      name: "no certificate",
      tls: { certificate_file: "junk", key_file: "server.key" },
      why: /certificate_file \(.*junk\) contains no PEM certificate/,
    },
  ])("$name", async ({ tls, why }) => {
    const config = {
      tls: { certificate_file: path(tls.certificate_file), key_file: path(tls.key_file) },
    };
    await expect(startEchoServer({ config })).rejects.toThrow(why);
  });

  const mutual = () => ({
    certificate_file: path("server.pem"),
    key_file: path("server.key"),
    client_ca_file: path("ca.pem"),
  });
  const pem = (name: string) => readFileSync(path(name));

  test("a client without a certificate, and one with an untrusted certificate", async () => {
    const echo = await startEchoServer({ config: { tls: mutual() } });
    for (const own of [{}, { certificate: pem("stranger.pem"), key: pem("stranger.key") }]) {
      const options = { target: `localhost:${echo.port}`, retry: false as const, timeoutMs: 3000 };
      const client = createGrpcClient(EchoService, {
        ...options,
        tls: { ca: pem("ca.pem"), ...own },
      });
      await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await client.close();
    }
    await echo.close();
  });

  test("a client with a certificate has its names", async () => {
    let call: Call | undefined;
    const authentication = (each: Call) => void (call = each);
    const echo = await startEchoServer({ config: { tls: mutual() }, chain: { authentication } });
    const client = createGrpcClient(EchoService, {
      target: `localhost:${echo.port}`,
      tls: { ca: pem("ca.pem"), certificate: pem("client.pem"), key: pem("client.key") },
    });
    expect(await client.echo({ text: "hi" })).toMatchObject({ text: "hi" });
    expect(call?.peer.certificateNames).toEqual(["edge.example.com", "spiffe://example.com/edge"]);
    await client.close();
    await echo.close();
  });

  test("invalid bytes and resets on a TLS port do not stop the server", async () => {
    const echo = await startEchoServer({ config: { tls: mutual() } });
    for (const bytes of [Buffer.alloc(0), Buffer.from("GET / HTTP/1.1"), Buffer.alloc(500, 22)]) {
      for (const reset of [true, false]) {
        const socket = connectSocket(echo.port, "127.0.0.1");
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.on("error", () => undefined).resume();
        await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
        if (reset) socket.resetAndDestroy();
        else socket.end();
        await closed;
      }
    }
    // One that has only connected does not hold the end up either.
    const silent = connectSocket(echo.port, "127.0.0.1");
    silent.on("error", () => undefined);
    await new Promise((resolve) => silent.once("connect", resolve));
    await echo.close();
  });

  test("plain text to a TLS port, and TLS 1.1", async () => {
    const { client_ca_file: _, ...tls } = mutual();
    const echo = await startEchoServer({ config: { tls } });
    const session = rawSession(echo.port);
    expect((await rawCall(session, ECHO, {}, frame(new Uint8Array()))).grpcStatus).toBeUndefined();
    const old = connect(`https://localhost:${echo.port}`, {
      ca: pem("ca.pem"),
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
    });
    await new Promise((resolve) => old.once("error", resolve));
    session.destroy();
    await echo.close();
  });
});

function many(count: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`x-${index}`, "x"]);
}

/** A CA, a server and a client that it signed, and a stranger. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const signed = (name: string, subject: string, names: string) => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", subject);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
    const out = ["-out", `${name}.pem`, "-extfile", `${name}.ext`];
    openssl("x509", "-req", "-in", `${name}.csr`, ...by, ...out);
  };
  for (const name of ["ca", "stranger"]) {
    const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`];
    openssl("req", "-x509", ...key, ...files, "-days", "2", "-subj", `/CN=${name}`);
  }
  signed("server", "/CN=localhost", "DNS:localhost");
  signed("client", "/CN=edge", "DNS:edge.example.com,URI:spiffe://example.com/edge");
  writeFileSync(join(folder, "junk"), "junk");
}
