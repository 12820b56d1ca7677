/** Certificates that are renewed on disk while a server runs. */
import {
  appendFileSync,
  copyFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Logger } from "../../../src/common/logger.ts";
import { RENEWAL_MS, ServerTls } from "../../../src/runtime/tls/server-tls.ts";
import type { RunningVault } from "../support/vault-server.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { startSecured, TRANSPORTS, type Transport, whoCalls } from "./support/secured.ts";

const TRUSTED = ["client.internal"];

describe.skipIf(opensslIsAbsent())("certificates that are renewed [TRANS-7]", () => {
  let certificates: Certificates;
  let ca: Authority;
  let otherCa: Authority;
  let first: Identity;
  let second: Identity;
  let client: Identity;
  let otherClient: Identity;
  let vault: RunningVault | undefined;
  const path = (name: string) => certificates.path(name);
  const files = () => ({
    certificate_file: path("tls.crt"),
    key_file: path("tls.key"),
    client_ca_file: path("clients.crt"),
  });

  beforeAll(() => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    otherCa = certificates.authority("other-ca");
    first = ca.issue("first", { commonName: "first", names: "DNS:localhost" });
    second = ca.issue("second", { commonName: "second", names: "DNS:localhost" });
    client = ca.issue("client", { names: "DNS:client.internal" });
    otherClient = otherCa.issue("other-client", { names: "DNS:client.internal" });
  });
  afterAll(() => certificates?.remove());
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    install(first, ca);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await vault?.stop();
    vault = undefined;
  });

  /** Replaces the files of the server. */
  const install = (identity: Identity, clientCa: Identity) => {
    copyFileSync(identity.certificateFile, path("tls.crt"));
    copyFileSync(identity.keyFile, path("tls.key"));
    copyFileSync(clientCa.certificateFile, path("clients.crt"));
  };
  const start = async () => {
    vault = await startSecured({ tls: files(), trustedPeers: TRUSTED });
    return vault;
  };
  /** Lets the server check its files, and waits until it has. */
  const look = async () => {
    await vi.advanceTimersByTimeAsync(RENEWAL_MS);
    // The files are really read.
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  /** Lets the server check its files until a condition holds. */
  const looked = async (isDone: () => boolean) => {
    await expect
      .poll(
        async () => {
          await look();
          return isDone();
        },
        { message: "the renewed certificate is in use" },
      )
      .toBe(true);
  };
  const as = ({ certificate, key }: Identity) => ({ ca: ca.certificate, cert: certificate, key });
  const open = (transport: Transport, more: object = {}): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const target = { host: "localhost", port: vault?.[transport] ?? 0 };
      const protocols = transport === "grpc" ? { ALPNProtocols: ["h2"] } : {};
      const options = { ...target, ...as(client), ...protocols, ...more };
      const socket = connect(options, () => resolve(socket));
      socket.on("error", reject);
    });
  const servedBy = async (transport: Transport) => {
    const socket = await open(transport);
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };

  const untilServedBy = async (transport: Transport, name: string) => {
    await expect
      .poll(
        async () => {
          await look();
          return servedBy(transport);
        },
        { message: "the server presents the renewed certificate" },
      )
      .toBe(name);
  };

  describe.each(TRANSPORTS)("over %s", (transport) => {
    test("are used for new connections, and open ones stay", async () => {
      const { http } = await start();
      const socket = await open("http");
      install(second, ca);
      expect(await servedBy(transport)).toBe("first");
      await untilServedBy(transport, "second");
      // Nothing else has changed.
      const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
      await expect(open(transport, old)).rejects.toThrow(/alert protocol version/);
      const refused = await whoCalls(transport, vault as RunningVault, { ca: ca.certificate });
      expect(refused).toMatch(/^refused: /);
      expect(await whoCalls(transport, vault as RunningVault, as(client))).toBe("200 alice");
      expect(http).toBeGreaterThan(0);
      const answer = new Promise<string>((resolve) => {
        socket.on("data", (piece: Buffer) => resolve(piece.toString()));
      });
      socket.write("GET /healthz HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n");
      expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    });

    test("are found behind a changed link, as in Kubernetes", async () => {
      for (const [name, identity] of [
        ["one", first],
        ["two", second],
      ] as const) {
        copyFileSync(identity.certificateFile, path(`${name}.crt`));
        copyFileSync(identity.keyFile, path(`${name}.key`));
      }
      const point = (to: string) => {
        for (const end of ["crt", "key"]) {
          rmSync(path(`next.${end}`), { force: true });
          symlinkSync(path(`${to}.${end}`), path(`next.${end}`));
          renameSync(path(`next.${end}`), path(`tls.${end}`));
        }
      };
      point("one");
      await start();
      point("two");
      await untilServedBy(transport, "second");
      rmSync(path("tls.crt"));
      rmSync(path("tls.key"));
    });

    test("decide who may connect, even with an earlier session", async () => {
      const running = await start();
      expect(await whoCalls(transport, running, as(otherClient))).toMatch(/^refused: /);
      const session = await sessionOf(transport);
      const resumed = await open(transport, { session, maxVersion: "TLSv1.2" });
      expect(resumed.isSessionReused()).toBe(true);
      resumed.destroy();
      install(first, otherCa);
      await look();
      await expect
        .poll(() => whoCalls(transport, running, as(otherClient)), {
          message: "the client's certificate is accepted",
        })
        .toBe("200 alice");
      expect(await whoCalls(transport, running, as(client))).toMatch(/^refused: /);
      const anew = { ca: ca.certificate, session, maxVersion: "TLSv1.2" as const };
      expect(await whoCalls(transport, running, anew)).toMatch(/^refused: /);
    });

    test.each<[string, () => void]>([
      ["are removed", () => rmSync(path("tls.crt"))],
      ["are incomplete", () => writeFileSync(path("tls.crt"), "-----BEGIN CERT")],
      ["have another key", () => copyFileSync(second.certificateFile, path("tls.crt"))],
      ["no longer have a client CA", () => writeFileSync(path("clients.crt"), "")],
    ])("and %s are not taken over", async (_what, spoil) => {
      const running = await start();
      spoil();
      await look();
      await look();
      expect(await servedBy(transport)).toBe("first");
      expect(await whoCalls(transport, running, { ca: ca.certificate })).toMatch(/^refused: /);
      expect(await whoCalls(transport, running, as(client))).toBe("200 alice");
      install(second, ca);
      await untilServedBy(transport, "second");
    });
  });

  test("are checked until the server ends", async () => {
    const timersOf = async (tls: object) => {
      const running = await startSecured({ tls });
      const during = vi.getTimerCount();
      await running.stop();
      return [during, vi.getTimerCount()] as const;
    };
    const [during, afterwards] = await timersOf({ http: undefined });
    expect(await timersOf(files())).toEqual([during + 2, afterwards]);
  });

  test("are logged, as are expired ones", async () => {
    const old = ca.issue("logged-old", { names: "DNS:localhost", days: -1 });
    install(old, ca);
    const running = await start();
    const said = () =>
      running.lines.map((line) => (JSON.parse(line) as { message: string }).message);
    for (const key of ["server.http.tls", "server.grpc.tls"]) {
      expect(said().join("\n")).toContain(
        `${key}.certificate_file (${path("tls.crt")}) has expired`,
      );
    }
    install(second, ca);
    const renewed = () => said().filter((message) => message === "the certificates were renewed");
    await looked(() => renewed().length === 2);
  });

  describe("are reported", () => {
    let lines: [string, object, string][];
    const logger = {} as Record<keyof Logger, Logger["info"]>;
    for (const level of ["debug", "info", "warn", "error"] as const) {
      logger[level] = (fields, message) => void lines.push([level, fields, message]);
    }
    beforeEach(() => {
      lines = [];
    });

    test("when they are used, and once if they cannot be used", async () => {
      const tls = new ServerTls("server.http.tls", files(), logger);
      const applied: unknown[] = [];
      const end = tls.follow((context) => void applied.push(context.cert));
      await look();
      expect(lines).toEqual([]);
      copyFileSync(second.certificateFile, path("tls.crt"));
      await look();
      // The key may be written a moment later.
      expect(lines).toEqual([]);
      await looked(() => lines.length > 0);
      await look();
      const problems = [
        "server.http.tls has a certificate and key that do not match: key_file is not the key of the certificate in certificate_file; name files that were issued together",
      ];
      expect(lines).toEqual([
        ["error", { problems }, "new certificates cannot be served; the previous ones stay in use"],
      ]);
      copyFileSync(second.keyFile, path("tls.key"));
      await looked(() => applied.length > 0);
      expect(lines.slice(1)).toEqual([
        ["info", { key: "server.http.tls" }, "the certificates were renewed"],
      ]);
      expect(applied).toEqual([second.certificate]);
      end();
      install(first, ca);
      await look();
      expect(applied).toHaveLength(1);
    });

    test("when they have expired, once", async () => {
      const old = ca.issue("old", { names: "DNS:localhost", days: -1 });
      install(old, ca);
      appendFileSync(path("clients.crt"), old.certificate);
      const tls = new ServerTls("server.grpc.tls", files(), logger);
      const end = tls.follow(() => undefined);
      await look();
      end();
      const said = lines.map(([level, , message]) => `${level} ${message}`);
      const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";
      expect(said).toEqual([
        expect.stringMatching(
          new RegExp(
            `^warn server\\.grpc\\.tls\\.certificate_file \\(.*tls\\.crt\\) has expired on ${time}; renew it$`,
          ),
        ),
        expect.stringMatching(
          new RegExp(
            `^warn server\\.grpc\\.tls\\.client_ca_file \\(.*clients\\.crt\\) holds certificate 2 of 2, which has expired on ${time}; renew it$`,
          ),
        ),
      ]);
    });
  });

  /** A session that can be resumed. */
  async function sessionOf(transport: Transport): Promise<Buffer> {
    const socket = await open(transport, { maxVersion: "TLSv1.2" });
    const session = socket.getSession();
    socket.destroy();
    if (session === undefined) throw new Error("there is no session");
    return session;
  }
});
