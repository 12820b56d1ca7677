/** What is said of a server whose TLS fails; a small server takes the place of PostgreSQL. */
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresMachineProblems } from "../../../src/database/postgres/postgres-url.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import {
  type Authority,
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "../../runtime/tls/support/certificates.ts";
import { SILENT, settingsOf } from "../settings.ts";

/** What PostgreSQL answers to a wrong password: the handshake was done. */
const REJECTED = (() => {
  const fields = Buffer.from("SFATAL\0C28P01\0Mno\0\0");
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
})();

/** Starts a server with a certificate, or without TLS. */
async function serve(identity?: Identity): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const ignore = () => undefined;
    socket.on("error", ignore);
    socket.once("data", () => {
      if (identity === undefined) return void socket.write("N");
      socket.write("S");
      const { certificate: cert, key } = identity;
      const secured = new TLSSocket(socket, { isServer: true, cert, key });
      secured.on("error", ignore);
      secured.once("data", () => void secured.end(REJECTED));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** Why a database with these parameters is not ready. */
async function reasonOf(port: number, query: string): Promise<string> {
  const url = `postgres://u:s3cret@127.0.0.1:${port}/db?connect_timeout=60&${query}`;
  const database = await openDatabase(settingsOf({ driver: "postgres", url }), { logger: SILENT });
  try {
    // Not `ready`, which has a time limit.
    await database.kysely.connection().execute(async () => undefined);
    return "";
  } catch (error) {
    return (error as Error).message.replaceAll(`:${port}`, ":PORT");
  } finally {
    await database.close();
  }
}

const NAME = "the PostgreSQL database db at 127.0.0.1:PORT";

test.each(["sslmode=verify-full", "sslmode=require", "sslmode=no-verify", "ssl=true"])(
  "a server without TLS is one for ?%s",
  async (query) => {
    expect(await reasonOf(await serve(), query)).toBe(
      `${NAME} has no TLS, which the URL requires: set ssl = on in the server, or write sslmode=disable in the URL if the network is trusted`,
    );
  },
);

describe.skipIf(opensslIsAbsent())("the certificate of a server", () => {
  let certificates: Certificates;
  let ca: Authority;
  let other: Authority;
  beforeAll(() => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    other = certificates.authority("other");
  });
  afterAll(() => certificates.remove());

  test.each(["sslmode=verify-full", "sslmode=require", "sslmode=prefer", "ssl=true"])(
    "of a private CA is refused for ?%s, with the parameter that names the CA",
    async (query) => {
      const port = await serve(ca.issue("private", { names: "IP:127.0.0.1" }));
      expect(await reasonOf(port, query)).toMatch(
        new RegExp(
          `^${NAME} has a certificate of a CA that Node.js does not know \\(.*\\): name the file of that CA by sslrootcert in the URL$`,
        ),
      );
    },
  );

  test("of another CA than that of sslrootcert is refused, with the file", async () => {
    const port = await serve(ca.issue("another", { names: "IP:127.0.0.1" }));
    const file = other.certificateFile;
    expect(await reasonOf(port, `sslmode=verify-full&sslrootcert=${file}`)).toContain(
      `: write its CA into that file, or name another by sslrootcert in the URL`,
    );
    expect(await reasonOf(port, `sslrootcert=${file}`)).toContain(
      `${NAME} has a certificate that no CA in "${file}" has signed (`,
    );
  });

  test("for another host is refused", async () => {
    const port = await serve(ca.issue("elsewhere", { names: "DNS:db.example.com" }));
    const query = `sslmode=require&sslrootcert=${ca.certificateFile}`;
    expect(await reasonOf(port, query)).toMatch(
      /has a certificate for another host \(.*IP: 127\.0\.0\.1 is not in .*\): write a name that the certificate has/,
    );
  });

  test("that has expired is refused", async () => {
    const port = await serve(ca.issue("expired", { names: "IP:127.0.0.1", days: -1 }));
    const query = `sslmode=verify-full&sslrootcert=${ca.certificateFile}`;
    expect(await reasonOf(port, query)).toBe(
      `${NAME} has a certificate that has expired: renew it`,
    );
  });

  test("is checked with its key, for the certificate of the client", () => {
    const [one, two] = [ca.issue("one", {}), ca.issue("two", {})];
    const problemsOf = (key: string) =>
      postgresMachineProblems(`postgres://h/db?sslcert=${one.certificateFile}&sslkey=${key}`);
    expect(problemsOf(one.keyFile)).toEqual([]);
    expect(problemsOf(two.keyFile)).toEqual([
      expect.stringMatching(
        /^names files in sslcert and sslkey that are not a certificate and its/,
      ),
    ]);
  });

  test.each<[string, () => string]>([
    ["of the CA of sslrootcert", () => `sslmode=verify-full&sslrootcert=${ca.certificateFile}`],
    ["of the CA of sslrootcert, without sslmode", () => `sslrootcert=${ca.certificateFile}`],
    ["of any CA with no-verify", () => "sslmode=no-verify"],
    ["of any CA with require of libpq", () => "sslmode=require&uselibpqcompat=true"],
  ])("%s is taken", async (_, query) => {
    const port = await serve(ca.issue("good", { names: "IP:127.0.0.1" }));
    expect(await reasonOf(port, query())).toBe(
      `${NAME} rejects the login of user u: correct the credentials`,
    );
  });
});
