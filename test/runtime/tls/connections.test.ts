/** Unexpected connections to a TLS server, over real sockets. */
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Port } from "../../../src/runtime/port/port.ts";
import { rawCall, rawSession } from "../grpc/support/raw-call.ts";
import type { RunningVault } from "../support/vault-server.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { startSecured, TRANSPORTS, type Transport, tlsOf, whoCalls } from "./support/secured.ts";

const FLOOD = 200;
const TRUSTED = ["client.internal"];
const REQUEST = "GET /healthz HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n";
/** The beginning of a ClientHello of 512 bytes, whose rest is never sent. */
const HALF_HELLO = Buffer.from("16030102000100", "hex");

describe.skipIf(opensslIsAbsent())("a TLS port", () => {
  let certificates: Certificates;
  let ca: Authority;
  let server: Identity;
  let client: Identity;
  let vault: RunningVault;

  beforeAll(async () => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    server = ca.issue("server", { names: "DNS:localhost" });
    client = ca.issue("client", { names: "DNS:client.internal" });
    vault = await startSecured({ tls: tlsOf(server, ca), trustedPeers: TRUSTED });
  });
  afterAll(async () => {
    await vault?.stop();
    certificates?.remove();
  });
  const good = () => ({ ca: ca.certificate, cert: client.certificate, key: client.key });

  describe.each(TRANSPORTS)("of %s", (transport) => {
    /** After every test, the server must still work. */
    const stillServes = async (running = vault) => {
      expect(await whoCalls(transport, running, good())).toBe("200 alice");
    };

    test("is refused by a client that trusts another CA", async () => {
      const other = certificates.authority(`${transport}-other`);
      const options = { ...good(), ca: other.certificate };
      expect(await whoCalls(transport, vault, options)).toMatch(
        /^refused: (UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN) /,
      );
      await stillServes();
    });

    test.each([
      ["TLSv1", "TLSv1"],
      ["TLSv1", "TLSv1.1"],
    ] as const)("takes no %s to %s", async (minVersion, maxVersion) => {
      // Enables what OpenSSL itself disables for old versions, so that the server must refuse.
      const old = { minVersion, maxVersion, ciphers: "DEFAULT@SECLEVEL=0" };
      expect(await whoCalls(transport, vault, { ...good(), ...old })).toMatch(
        /^refused: .*alert protocol version/,
      );
      await stillServes();
    });

    test.each(["TLSv1.2", "TLSv1.3"] as const)("takes %s", async (maxVersion) => {
      expect(await whoCalls(transport, vault, { ...good(), maxVersion })).toBe("200 alice");
    });

    test("ends a connection in plain text without a response", async () => {
      const said = await saidUntilClosed(vault[transport], REQUEST);
      expect(said.toString("latin1")).not.toContain("HTTP");
      const session = rawSession(vault[transport]);
      const answer = await rawCall(session, "/acme.vault.v1.VaultService/GetNotice");
      session.destroy();
      expect([answer.httpStatus || 0, answer.grpcStatus]).toEqual([0, undefined]);
      await stillServes();
    });

    test("ends a connection that is not TLS at all", async () => {
      for (const bytes of [Buffer.alloc(5000, 0x16), Buffer.alloc(1), Buffer.from("\r\n\r\n")]) {
        const socket = connect(vault[transport], "127.0.0.1");
        socket.on("error", () => undefined).resume();
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.end(bytes);
        await closed;
      }
      await stillServes();
    });

    test("ends connections with an unfinished handshake", async () => {
      const sockets = [Buffer.alloc(0), HALF_HELLO].map((bytes) => {
        const socket = connect(vault[transport], "127.0.0.1");
        socket.on("error", () => undefined).resume();
        socket.write(bytes);
        return new Promise((resolve) => socket.once("close", resolve));
      });
      await Promise.all(sockets);
      await stillServes();
    });

    test(`serves others while ${FLOOD} connections are silent, and can be closed with them`, async () => {
      const own = await startSecured({ tls: tlsOf(server, ca), trustedPeers: TRUSTED });
      const sockets = await flood(own, transport);
      await stillServes(own);
      const closed = sockets.map(closing);
      await own.stop();
      await Promise.all(closed);
    });
  });

  test.each<[Transport, string[] | undefined, string | false]>([
    ["http", undefined, false],
    ["http", ["http/1.1"], "http/1.1"],
    ["http", ["h2", "http/1.1"], "h2"],
    ["http", ["h2"], "h2"],
    ["grpc", ["h2"], "h2"],
    ["grpc", ["http/1.1", "h2"], "h2"],
  ])("%s with the protocols %j agrees on %j", async (transport, ALPNProtocols, agreed) => {
    const socket = await secured(transport, { ...good(), ...(ALPNProtocols && { ALPNProtocols }) });
    expect(socket.alpnProtocol).toBe(agreed);
    socket.destroy();
  });

  test.each<[Transport, string[]]>([
    ["http", ["h3"]],
    ["grpc", ["http/1.1"]],
    ["grpc", ["h3"]],
  ])("%s with the protocols %j agrees on none", async (transport, ALPNProtocols) => {
    await expect(secured(transport, { ...good(), ALPNProtocols })).rejects.toMatchObject({
      code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
    });
  });

  test("gRPC is not served without a negotiated protocol", async () => {
    const socket = await secured("grpc", good());
    const pieces: Buffer[] = [];
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    await once(socket, "close");
    expect(Buffer.concat(pieces).toString("latin1")).toBe("");
  });

  test("gRPC does not wait for handshakes to end", async () => {
    // No call is running, so the shutdown timeout must not matter.
    const own = await startSecured({
      tls: tlsOf(server, ca),
      trustedPeers: TRUSTED,
      shutdownTimeoutNs: 3_600_000_000_000,
    });
    const sockets = await flood(own, "grpc");
    const closed = sockets.map(closing);
    await own.stop();
    await Promise.all(closed);
    expect(own.lines.filter((line) => line.includes("still under way"))).toEqual([]);
  });

  test("with unfinished handshakes closes at once, whatever their timeout", async () => {
    const port = new Port({
      tls: { certificate_file: server.certificateFile, key_file: server.keyFile },
      tlsKey: "server.http.tls",
      protocols: ["h2", "http/1.1"],
      beginMs: 3_600_000,
      accept: () => undefined,
    });
    port.server.listen(0, "127.0.0.1");
    await once(port.server, "listening");
    const begun = once(port.server, "connection");
    const socket = connect((port.server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => undefined).write(HALF_HELLO);
    await begun;
    const closed = once(port.server, "close");
    port.server.close();
    port.closeSilent();
    await closed;
    socket.destroy();
  });

  function secured(transport: Transport, options: ConnectionOptions): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const target = { host: "localhost", port: vault[transport] };
      const socket = connectTls({ ...target, ...options }, () => resolve(socket));
      socket.on("error", reject);
    });
  }
});

function saidUntilClosed(port: number, text: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(Buffer.concat(pieces)));
    socket.write(text);
  });
}

/** Resolves when a connection is closed, including by a reset. */
function closing(socket: Socket): Promise<unknown> {
  return socket.closed
    ? Promise.resolve()
    : new Promise((resolve) => socket.once("close", resolve));
}

/** Silent connections, some of which begin a handshake. */
async function flood(vault: RunningVault, transport: Transport): Promise<Socket[]> {
  const sockets = Array.from({ length: FLOOD }, () => connect(vault[transport], "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const [index, socket] of sockets.entries()) {
    socket.on("error", () => undefined).resume();
    if (index % 2 === 0) socket.write(HALF_HELLO);
  }
  return sockets;
}
