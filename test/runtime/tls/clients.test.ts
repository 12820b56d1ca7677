/** The typed clients over TLS, with valid servers, and with servers that they must refuse. */
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGrpcClient, createHttpClient } from "../../../src/runtime/index.ts";
import { VaultService } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { VaultServiceRoutes } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { INTERNAL_TOKEN, type RunningVault } from "../support/vault-server.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { startSecured, TRANSPORTS, type Transport, tlsOf } from "./support/secured.ts";

interface ClientTls {
  readonly ca?: string | Uint8Array;
  readonly certificate?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

const UNTRUSTED =
  "the server's certificate is not signed by a CA that this client trusts: set tls.ca to the CA that signed it";
const WANTED =
  "the server requires a client certificate: set tls.certificate and tls.key to one that it trusts";
const NO_CERTIFICATE =
  "contains no PEM certificate, which begins with -----BEGIN CERTIFICATE-----; convert DER with: openssl x509 -inform der";

describe.skipIf(opensslIsAbsent())("a typed client over TLS", () => {
  let certificates: Certificates;
  let ca: Authority;
  let other: Authority;
  let server: Identity;
  let client: Identity;
  const started: RunningVault[] = [];

  beforeAll(() => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    other = certificates.authority("other");
    server = ca.issue("server", { names: "DNS:localhost" });
    client = ca.issue("client", { names: "DNS:client.internal", usage: "clientAuth" });
  });
  afterAll(async () => {
    await Promise.all(started.map((vault) => vault.stop()));
    certificates?.remove();
  });

  const start = async (tls: object) => {
    const vault = await startSecured({ tls, trustedPeers: ["client.internal"] });
    started.push(vault);
    return vault;
  };
  const clientOf = (transport: Transport, port: number, tls?: ClientTls, timeoutMs = 20_000) => {
    const options = { timeoutMs, ...(tls && { tls }) };
    const scheme = tls === undefined ? "http" : "https";
    return transport === "grpc"
      ? createGrpcClient(VaultService, { target: `localhost:${port}`, ...options })
      : createHttpClient(VaultService, VaultServiceRoutes, {
          baseUrl: `${scheme}://localhost:${port}`,
          ...options,
        });
  };
  /** The outcome of a call: the error or the response. */
  const called = async (
    transport: Transport,
    port: number,
    tls?: ClientTls,
    timeoutMs?: number,
  ) => {
    await using made = clientOf(transport, port, tls, timeoutMs);
    return await made.getNotice({ noticeId: "n" }).catch((error: unknown) => error);
  };

  describe.each(TRANSPORTS)("by %s", (transport) => {
    test("calls a server that it trusts, with its internal token", async () => {
      const vault = await start(tlsOf(server));
      const tls = { ca: ca.certificate };
      expect(await called(transport, vault[transport], tls)).toMatchObject({ echo: "n" });
      await using made = clientOf(transport, vault[transport], tls);
      const metadata = { "x-svc-internal-token": INTERNAL_TOKEN };
      expect(await made.reconcile({ reason: "r" }, { metadata })).toMatchObject({ echo: "r" });
    });

    test("presents its certificate, which identifies it", async () => {
      const vault = await start(tlsOf(server, ca));
      const { certificate, key } = client;
      await using made = clientOf(transport, vault[transport], {
        ca: ca.certificate,
        certificate,
        key,
      });
      const metadata = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };
      expect(await made.getProfile({}, { metadata })).toMatchObject({ subjectId: "alice" });
    });

    test("takes the PEM as text, too", async () => {
      const vault = await start(tlsOf(server, ca));
      await using made = clientOf(transport, vault[transport], {
        ca: `${ca.certificate}`,
        certificate: `${client.certificate}`,
        key: `${client.key}`,
      });
      const metadata = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };
      expect(await made.getProfile({}, { metadata })).toMatchObject({ subjectId: "alice" });
    });

    test.each<[string, () => [object, ClientTls | undefined], string]>([
      ["of another CA", () => [tlsOf(server), { ca: other.certificate }], UNTRUSTED],
      ["without a signature of a public CA", () => [tlsOf(server), {}], UNTRUSTED],
      [
        "that only its own key has signed",
        () => {
          const own = certificates.selfSigned(`${transport}-own`, { names: "DNS:localhost" });
          return [tlsOf(own), { ca: ca.certificate }];
        },
        UNTRUSTED,
      ],
      [
        "of another name",
        () => {
          const named = ca.issue(`${transport}-named`, { names: "DNS:elsewhere.example.com" });
          return [tlsOf(named), { ca: ca.certificate }];
        },
        "the server's certificate is for another name: call the server by a name that its certificate has",
      ],
      [
        "that has expired",
        () => {
          const old = ca.issue(`${transport}-old`, { names: "DNS:localhost", days: -1 });
          return [tlsOf(old), { ca: ca.certificate }];
        },
        "the server's certificate has expired: renew it",
      ],
      [
        "that is for clients only",
        () => {
          const wrong = ca.issue(`${transport}-for-clients`, {
            names: "DNS:localhost",
            usage: "clientAuth",
          });
          return [tlsOf(wrong), { ca: ca.certificate }];
        },
        UNTRUSTED,
      ],
      ["and requests one", () => [tlsOf(server, ca), { ca: ca.certificate }], WANTED],
    ])("says what to do about a server with a certificate %s", async (_what, make, message) => {
      const [serving, tls] = make();
      const vault = await start(serving);
      const error = await called(transport, vault[transport], tls);
      expect(error).toMatchObject({ code: "UNAVAILABLE", message });
    });

    test("reports the fix for a server in plain text", async () => {
      const vault = await start({ http: undefined });
      expect(await called(transport, vault[transport], { ca: ca.certificate })).toMatchObject({
        code: "UNAVAILABLE",
        message:
          "the server does not use TLS at this address: check the address, or call it without TLS",
      });
    });

    if (transport === "grpc") {
      test("reports the fix for a server that requires TLS to a client without it", async () => {
        const vault = await start(tlsOf(server));
        expect(await called(transport, vault[transport], undefined)).toMatchObject({
          code: "UNAVAILABLE",
          message:
            "the server closed the connection before it could be used: check the address, and set tls if the server requires TLS",
        });
      });
    }

    test("fails as UNAVAILABLE without hanging if the server refuses it", async () => {
      const vault = await start(tlsOf(server, ca));
      const { certificate, key } = other.issue(`${transport}-stranger`, {
        names: "DNS:client.internal",
      });
      const tls = { ca: ca.certificate, certificate, key };
      for (const refused of [tls, undefined]) {
        const error = await called(transport, vault[transport], refused);
        expect(error).toMatchObject({ code: "UNAVAILABLE" });
      }
    });

    test("limits the time of a handshake like that of a response", async () => {
      const silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as AddressInfo;
      const error = await called(transport, port, { ca: ca.certificate }, 500);
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
      silent.close();
    });

    test.each<[string, () => ClientTls, string]>([
      [
        "a certificate without its key",
        () => ({ certificate: client.certificate }),
        "tls.certificate and tls.key belong together: set both, or neither",
      ],
      [
        "a key without its certificate",
        () => ({ key: client.key }),
        "tls.certificate and tls.key belong together: set both, or neither",
      ],
      ["no CA", () => ({ ca: Buffer.from("ca.pem") }), `tls.ca ${NO_CERTIFICATE}`],
      [
        "an empty CA",
        () => ({ ca: new Uint8Array() }),
        "tls.ca is empty; put the certificates into it, as PEM",
      ],
      [
        "certificate and key swapped",
        () => ({ certificate: client.key, key: client.certificate }),
        "tls.certificate contains a private key, but no certificate; put the certificate there\ntls.key contains a certificate, but no private key; put the key there",
      ],
      [
        "the key of another certificate",
        () => ({ certificate: client.certificate, key: server.key }),
        "tls.key does not match tls.certificate: use a key and certificate that were issued together",
      ],
    ])("is not made with %s", (_what, make, message) => {
      expect(() => clientOf(transport, 1, make())).toThrow(new TypeError(message));
    });
  });

  test("cannot be created for plain HTTP, where no certificates are checked", () => {
    const options = { baseUrl: "http://localhost:1", tls: { ca: ca.certificate } };
    expect(() => createHttpClient(VaultService, VaultServiceRoutes, options)).toThrow(
      new TypeError("tls is set, but the base URL is not https: http://localhost:1"),
    );
  });

  test("over grpc may expect another server name than that of its address", async () => {
    const named = ca.issue("named", { names: "DNS:vault.internal" });
    const vault = await start(tlsOf(named));
    const target = `localhost:${vault.grpc}`;
    for (const [serverName, expected] of [
      ["vault.internal", { echo: "n" }],
      ["other.internal", { code: "UNAVAILABLE" }],
    ] as const) {
      const tls = { ca: ca.certificate, serverName };
      await using made = createGrpcClient(VaultService, { target, tls });
      const answer = await made.getNotice({ noticeId: "n" }).catch((error: unknown) => error);
      expect(answer).toMatchObject(expected);
    }
  });
});
