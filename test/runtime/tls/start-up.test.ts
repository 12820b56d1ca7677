/** Unusable certificates: the server does not start, and reports all problems. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StartUpError } from "../../../src/runtime/index.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { startSecured, TRANSPORTS, tlsOf, whoCalls } from "./support/secured.ts";

describe.skipIf(opensslIsAbsent())("files of certificates", () => {
  let certificates: Certificates;
  let ca: Authority;
  let server: Identity;
  let other: Identity;

  beforeAll(() => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    server = ca.issue("server", { names: "DNS:localhost" });
    other = ca.issue("other", { names: "DNS:localhost" });
    const { path } = certificates;
    const openssl = (...args: string[]) =>
      execFileSync("openssl", args, { cwd: certificates.folder, stdio: "ignore" });
    const write = (name: string, ...pieces: (string | Buffer)[]) =>
      writeFileSync(path(name), Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
    write("empty");
    write("blank", "\n \n");
    write("junk", "not a certificate\n");
    write("random", Buffer.from(Array.from({ length: 900 }, (_, index) => (index * 89) % 256)));
    mkdirSync(path("folder"));
    openssl("x509", "-in", "server.pem", "-outform", "der", "-out", "server.der");
    openssl("pkey", "-in", "server.key", "-outform", "der", "-out", "server.key.der");
    const encryption = ["-aes256", "-passout", "pass:passphrase-of-the-test"];
    openssl("pkey", "-in", "server.key", ...encryption, "-out", "encrypted.key");
    openssl("ec", "-in", "server.key", ...encryption, "-out", "encrypted-old.key");
    const text = server.certificate.toString();
    write("damaged", text.replace(/\n[A-Za-z0-9+/]{64}\n/, "\n"));
    write("damaged-second", text, text.replace(/\n[A-Za-z0-9+/]{64}\n/, "\n"));
    write("damaged.key", ca.key.toString().replace(/\n[A-Za-z0-9+/]{64}\n/, "\n"));
    write("reversed", ca.certificate, server.certificate);
    openssl(
      "req",
      "-x509",
      "-newkey",
      "rsa:512",
      "-nodes",
      ...["-subj", "/CN=weak"],
      "-keyout",
      "weak.key",
      "-out",
      "weak.pem",
    );
  });
  afterAll(() => certificates?.remove());

  /** The problems of a start, with `AT` for the key and without the folder. */
  const problems = async (transport: "http" | "grpc", tls: Record<string, string>) => {
    const files = Object.entries(tls).map(([key, name]) => [key, certificates.path(name)]);
    const starting = startSecured({ tls: { [transport]: Object.fromEntries(files) } });
    const error: unknown = await starting.then(
      (vault) => vault.stop(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StartUpError);
    const folder = `${certificates.folder}/`;
    return (error as StartUpError).problems.map((line) =>
      line.replaceAll(`server.${transport}.tls`, "AT").replaceAll(folder, ""),
    );
  };
  const NO_CERTIFICATE =
    "contains no PEM certificate, which begins with -----BEGIN CERTIFICATE-----; convert DER with: openssl x509 -inform der";
  const NO_KEY =
    "contains no PEM private key, which begins with -----BEGIN PRIVATE KEY-----; convert DER with: openssl pkey -inform der";
  const ENCRYPTED =
    "is encrypted, which is not supported; decrypt it with: openssl pkey -in FILE -out FILE, and restrict access to the file";
  const KEYS = ["server.key", "ca.key", "encrypted.key", "damaged.key"];
  const EMPTY = "is empty; put the certificates into it, as PEM";
  const MISMATCH =
    "AT has a certificate and key that do not match: key_file is not the key of the certificate in certificate_file; name files that were issued together";

  describe.each(TRANSPORTS)("of %s", (transport) => {
    test.each<[string, Record<string, string>, string[]]>([
      [
        "that do not exist",
        { certificate_file: "a", key_file: "b", client_ca_file: "c" },
        [
          "AT.certificate_file cannot be read: there is no a; name a file that exists",
          "AT.key_file cannot be read: there is no b; name a file that exists",
          "AT.client_ca_file cannot be read: there is no c; name a file that exists",
        ],
      ],
      [
        "that are folders",
        { certificate_file: "folder", key_file: "server.key" },
        ["AT.certificate_file cannot be read: folder is a folder; name the file in it"],
      ],
      [
        "that are empty",
        { certificate_file: "empty", key_file: "blank", client_ca_file: "empty" },
        [
          `AT.certificate_file (empty) ${EMPTY}`,
          `AT.client_ca_file (empty) ${EMPTY}`,
          "AT.key_file (blank) is empty; put the private key into it, as PEM",
        ],
      ],
      [
        "that are not PEM",
        { certificate_file: "server.der", key_file: "server.key.der", client_ca_file: "junk" },
        [
          `AT.certificate_file (server.der) ${NO_CERTIFICATE}`,
          `AT.client_ca_file (junk) ${NO_CERTIFICATE}`,
          `AT.key_file (server.key.der) ${NO_KEY}`,
        ],
      ],
      [
        "that are special files",
        { certificate_file: "random", key_file: "random" },
        [`AT.certificate_file (random) ${NO_CERTIFICATE}`, `AT.key_file (random) ${NO_KEY}`],
      ],
      [
        "that are swapped",
        { certificate_file: "server.key", key_file: "server.pem", client_ca_file: "ca.key" },
        [
          "AT.certificate_file (server.key) contains a private key, but no certificate; put the certificate there",
          "AT.client_ca_file (ca.key) contains a private key, but no certificate; put the certificate there",
          "AT.key_file (server.pem) contains a certificate, but no private key; put the key there",
        ],
      ],
      [
        "of which one certificate is damaged",
        { certificate_file: "damaged", key_file: "server.key", client_ca_file: "damaged-second" },
        [
          "AT.certificate_file (damaged) is damaged: certificate 1 in it is not a certificate; write the file again",
          "AT.client_ca_file (damaged-second) is damaged: certificate 2 in it is not a certificate; write the file again",
        ],
      ],
      [
        "with a key that is damaged",
        { certificate_file: "ca.pem", key_file: "damaged.key" },
        [`AT.key_file (damaged.key) ${NO_KEY}`],
      ],
      [
        "with an encrypted key",
        { certificate_file: "server.pem", key_file: "encrypted.key" },
        [`AT.key_file (encrypted.key) ${ENCRYPTED}`],
      ],
      [
        "with a key encrypted in the older way",
        { certificate_file: "server.pem", key_file: "encrypted-old.key" },
        [`AT.key_file (encrypted-old.key) ${ENCRYPTED}`],
      ],
      [
        "with the key of another certificate",
        { certificate_file: "server.pem", key_file: "other.key" },
        [MISMATCH],
      ],
      [
        "with a key of another kind",
        { certificate_file: "server.pem", key_file: "ca.key" },
        [MISMATCH],
      ],
      [
        "with the chain in the wrong order",
        { certificate_file: "reversed", key_file: "server.key" },
        [
          "AT.certificate_file must begin with the server's own certificate; it is number 2 in it, so put it first",
        ],
      ],
    ])("%s", async (_what, tls, expected) => {
      expect(await problems(transport, tls)).toEqual(expected);
    });

    test("with a key that is too weak", async () => {
      const [problem, ...more] = await problems(transport, {
        certificate_file: "weak.pem",
        key_file: "weak.key",
      });
      expect(problem).toMatch(
        /^AT cannot be served with: .*key too small; issue a new certificate and key/,
      );
      expect(more).toEqual([]);
    });

    test.skipIf(process.getuid?.() === 0)("that this process may not read", async () => {
      chmodSync(other.keyFile, 0);
      try {
        const tls = { certificate_file: "other.pem", key_file: "other.key" };
        expect(await problems(transport, tls)).toEqual([
          "AT.key_file cannot be read: this process has no right to read other.key; grant it",
        ]);
      } finally {
        chmodSync(other.keyFile, 0o600);
      }
    });

    test("never show the key", async () => {
      const secrets = KEYS.flatMap((name) =>
        readFileSync(certificates.path(name), "utf8")
          .split("\n")
          .filter((line) => line.length > 30),
      );
      expect(secrets.length).toBeGreaterThan(10);
      for (const key of KEYS) {
        const said = await problems(transport, { certificate_file: key, key_file: key });
        expect(secrets.filter((secret) => said.join().includes(secret))).toEqual([]);
      }
    });

    test("that have expired are used, since a renewal may follow", async () => {
      const old = ca.issue(`${transport}-old`, { names: "DNS:localhost", days: -1 });
      const vault = await startSecured({ tls: { [transport]: tlsOf(old) } });
      try {
        const options = { ca: ca.certificate };
        expect(await whoCalls(transport, vault, options)).toMatch(/^refused: CERT_HAS_EXPIRED /);
      } finally {
        await vault.stop();
      }
    });

    test("may contain more than one certificate: text, a chain, and several client CAs", async () => {
      const { path } = certificates;
      const second = certificates.authority(`${transport}-second`);
      const client = second.issue(`${transport}-client`, { names: "DNS:client.internal" });
      const chain = path(`${transport}-chain`);
      writeFileSync(chain, `the server's own\r\n${server.certificate}\nits CA\n${ca.certificate}`);
      const bundle = path(`${transport}-bundle`);
      writeFileSync(bundle, `${ca.certificate}\n# the second\n${second.certificate}`);
      const key = path(`${transport}-key`);
      writeFileSync(key, `Bag Attributes\n${server.key}`);
      const tls = { certificate_file: chain, key_file: key, client_ca_file: bundle };
      const vault = await startSecured({
        tls: { [transport]: tls },
        trustedPeers: ["client.internal"],
      });
      try {
        const own = { cert: client.certificate, key: client.key };
        expect(await whoCalls(transport, vault, { ca: ca.certificate, ...own })).toBe("200 alice");
      } finally {
        await vault.stop();
      }
    });
  });

  test("of both servers are reported together, and before anything is opened", async () => {
    const path = (name: string) => certificates.path(name);
    const tls = {
      http: { certificate_file: path("a"), key_file: path("server.key") },
      grpc: { certificate_file: path("server.pem"), key_file: path("encrypted.key") },
    };
    const starting = startSecured({ tls });
    await expect(starting).rejects.toThrow(
      /2 problems:\nserver\.http\.tls\.certificate_file .*\nserver\.grpc\.tls\.key_file /,
    );
  });
});
