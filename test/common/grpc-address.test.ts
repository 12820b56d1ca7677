/** gRPC over TLS to a server that is named by its IP address. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer, type Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createSpicedbEngine } from "../../src/authz/spicedb/index.ts";
import { ipAddressOf } from "../../src/common/grpc-address.ts";
import { IAMPermissionService } from "../../src/gen/proto/svc/iam/v1/permission_pb.ts";
import { createGrpcClient } from "../../src/runtime/client/grpc/grpc-client.ts";
import { modelOf, SCHEMA } from "../authz/contract/schema.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "../runtime/tls/support/certificates.ts";

test.each([
  ["10.1.2.3:50051", "10.1.2.3"],
  ["[::1]:50051", "::1"],
  ["spicedb:50051", undefined],
  ["10.1.2.3.example.com:50051", undefined],
  // grpc-js takes all of it as an address, without a port.
  ["::1:50051", undefined],
  ["dns:10.1.2.3:50051", undefined],
  ["10.1.2.3", undefined],
])("the IP address of %s is %s", (target, address) => {
  expect(ipAddressOf(target)).toBe(address);
});

describe.skipIf(opensslIsAbsent())("over TLS", () => {
  let certificates: Certificates;
  let ca: Authority;
  let right: Identity;
  beforeAll(() => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    right = ca.issue("right", { names: "IP:127.0.0.1,DNS:localhost" });
  });
  afterAll(() => certificates?.remove());
  afterEach(() => void vi.restoreAllMocks());

  /** A server whose only answer is that it does not know the call, and what clients named it. */
  async function serve({ certificate: cert, key }: Identity) {
    const names: unknown[] = [];
    const ciphers: string[] = [];
    const sessions = new Set<Http2Session>();
    const server = createSecureServer({ cert, key });
    server.on("secureConnection", (socket: TLSSocket) => {
      names.push(socket.servername);
      ciphers.push(socket.getCipher().name);
    });
    server.on("tlsClientError", () => undefined);
    server.on("session", (session) => {
      sessions.add(session);
      session.on("error", () => undefined);
    });
    server.on("stream", (stream) => {
      stream.on("error", () => undefined).resume();
      const headers = { ":status": 200, "content-type": "application/grpc", "grpc-status": "12" };
      stream.respond(headers, { endStream: true });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return { names, ciphers, port: (server.address() as AddressInfo).port };
  }

  /** Why the engine on SpiceDB is not ready, and why a client of the runtime fails. */
  async function failuresAt(target: string, trusted?: Buffer) {
    const tls = trusted === undefined ? {} : { ca: trusted };
    const options = { endpoint: target, token: "key", ...tls, model: modelOf(SCHEMA) };
    const engine = await createSpicedbEngine(options);
    onTestFinished(() => engine.close());
    const client = createGrpcClient(IAMPermissionService, { target, tls });
    onTestFinished(() => client.close());
    const { reason } = await engine.ready();
    const error = await client.getModel({}).catch((thrown: unknown) => thrown);
    return { reason, message: (error as Error).message, code: (error as { code: string }).code };
  }

  test("the certificate must have the address, no name is sent, and Node has nothing to warn of", async () => {
    const { port, names } = await serve(right);
    const warned = vi.spyOn(process, "emitWarning");
    const target = `127.0.0.1:${port}`;
    expect(await failuresAt(target, ca.certificate)).toMatchObject({
      reason: `what answers at ${target} is not SpiceDB: correct endpoint`,
      code: "UNIMPLEMENTED",
    });
    expect(names).toEqual([false, false]);
    expect(warned).not.toHaveBeenCalled();
  });

  test.each([
    ["only other names", { names: "DNS:localhost,IP:127.0.0.2" }],
    ["the address only as its common name", { commonName: "127.0.0.1" }],
    ["the address only as a DNS name", { names: "DNS:127.0.0.1" }],
  ])("a certificate with %s is refused", async (name, text) => {
    const { port } = await serve(ca.issue(name.replaceAll(" ", "-"), text));
    expect(await failuresAt(`127.0.0.1:${port}`, ca.certificate)).toEqual({
      reason: `the certificate of SpiceDB at 127.0.0.1:${port} is for another name: name the server in endpoint as its certificate does`,
      code: "UNAVAILABLE",
      message: expect.stringMatching(/^the server's certificate is for another name/),
    });
  });

  test("a certificate of another CA is refused, also where the environment would allow it", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { port } = await serve(right);
    const other = certificates.authority("other");
    expect(await failuresAt(`127.0.0.1:${port}`, other.certificate)).toEqual({
      reason: `the certificate of SpiceDB at 127.0.0.1:${port} is not signed by a trusted CA: name that CA in ca`,
      code: "UNAVAILABLE",
      message: expect.stringMatching(/is not signed by a CA that this client trusts/),
    });
  });

  test("the roots and the ciphers of grpc-js in the environment count as for a name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "grpc-address-"));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    });
    const { port, ciphers } = await serve(right);
    const target = `127.0.0.1:${port}`;
    expect((await failuresAt(target)).message).toMatch(/is not signed by a CA/);
    const roots = join(folder, "roots.pem");
    writeFileSync(roots, ca.certificate);
    vi.stubEnv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", roots);
    // Not the one that Node and the server prefer.
    vi.stubEnv("GRPC_SSL_CIPHER_SUITES", "TLS_AES_128_GCM_SHA256");
    expect(await failuresAt(target)).toMatchObject({ code: "UNIMPLEMENTED" });
    expect(ciphers).toContain("TLS_AES_128_GCM_SHA256");
    // The CA of the options comes first.
    const other = certificates.authority("another");
    expect((await failuresAt(target, other.certificate)).message).toMatch(/is not signed by a CA/);
  });

  test("a host name is sent as before", async () => {
    const { port, names } = await serve(right);
    expect(await failuresAt(`localhost:${port}`, ca.certificate)).toMatchObject({
      code: "UNIMPLEMENTED",
    });
    expect(names).toEqual(["localhost", "localhost"]);
  });
});
