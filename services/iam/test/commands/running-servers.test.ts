/** `--offline` is refused where a server runs, or may run, and only there. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpicedbEngine } from "svc-access/authz";
import type { Kysely } from "svc-access/database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { freePort } from "../../../../test/support/free-port.ts";
import { openPostgres } from "../../../../test/support/postgres.ts";
import { spicedbIsAbsent, startSpicedb } from "../../../../test/support/spicedb.ts";
import { until } from "../../../../test/support/until.ts";
import { refuseRunning } from "../../src/commands/running-servers.ts";
import { CommandLine } from "../support/command-line.ts";
import { type IamService, startIam } from "../support/iam-service.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const ERROR = { status: 503, code: "UNAVAILABLE", message: "not now", request_id: "r" };

const folder = mkdtempSync(join(tmpdir(), "svc-iam-tls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const identity = selfSigned();
const secured = (listener: RequestListener) =>
  createSecureServer(
    {
      cert: readFileSync(identity?.certificate_file ?? ""),
      key: readFileSync(identity?.key_file ?? ""),
    },
    listener,
  );

/** A certificate that nobody else has signed; undefined where openssl is not installed. */
function selfSigned() {
  const files = { certificate_file: join(folder, "tls.pem"), key_file: join(folder, "tls.key") };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const out = ["-keyout", files.key_file, "-out", files.certificate_file];
  const args = ["req", "-x509", ...key, ...out, "-subj", "/CN=localhost"];
  return spawnSync("openssl", args).status === 0 ? files : undefined;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, host);
  await once(server, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const answering =
  (status: number, body: unknown, type = "application/json"): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "content-type": type });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** What it says about a configuration with these addresses; undefined if it may begin. */
async function refusal(publicUrl: string, address: string, isSecure = false) {
  const http = { address, ...(isSecure ? { tls: {} } : {}) };
  const config = { server: { http }, security: { authz: { provider: "embedded" } } };
  const loaded = { config, sections: { iam: { public_url: publicUrl } } };
  return refuseRunning(loaded as never).then(
    () => undefined,
    (error: Error) => error.message,
  );
}
const nobody = async () => `127.0.0.1:${await freePort()}`;

test("it begins where nobody listens", async () => {
  const place = await nobody();
  expect(await refusal(`http://localhost:${place.split(":")[1]}`, place)).toBeUndefined();
  expect(await refusal(`https://${place}`, "127.0.0.1:0")).toBeUndefined();
});

test.each<[string, RequestListener]>([
  ["no healthy upstream", answering(503, "no healthy upstream", "text/plain")],
  ["an error of its own in JSON", answering(503, { status: 503, message: "no backend" })],
  ["a page", answering(502, "<html>Bad Gateway</html>", "text/html")],
  ["that it knows no such path", answering(404, "")],
  ["a redirect", answering(301, "")],
  ["its own health", answering(200, { status: "ok" })],
  ["a long text", answering(200, "x".repeat(100_000))],
  ["JSON that is not an object", answering(200, "null")],
])("it begins where an edge without backends answers %s [CMD-7]", async (_, listener) => {
  const port = await listen(createServer(listener));
  expect(await refusal(`http://127.0.0.1:${port}`, await nobody())).toBeUndefined();
});

const ANSWERS: readonly [string, RequestListener][] = [
  ["that it is ready", answering(200, { status: "ready" })],
  ["that it is not ready", answering(503, { status: "not_ready", reasons: ["draining"] })],
  ["an error", answering(503, ERROR)],
  [
    "through an edge that does not route the probes",
    (request, response) =>
      request.url === "/readyz"
        ? answering(404, "")(request, response)
        : answering(400, { ...ERROR, status: 400 })(request, response),
  ],
];
describe.each(ANSWERS)("a server that answers %s", (_, listener) => {
  const said = (place: string) =>
    `a server answers at ${place}: leave out --offline and log in, or stop it first`;

  test("is seen at the public address", async () => {
    const at = `http://localhost:${await listen(createServer(listener))}`;
    expect(await refusal(at, await nobody())).toBe(said(at));
  });

  test.skipIf(identity === undefined)(
    "is seen at the public address, whoever signed its certificate",
    async () => {
      const secure = await listen(secured(listener));
      const securely = `https://localhost:${secure}`;
      expect(await refusal(securely, await nobody())).toBe(said(securely));
    },
  );

  test("is seen at its own address, also another one of this machine", async () => {
    const elsewhere = `http://${await nobody()}`;
    const other = `127.0.0.2:${await listen(createServer(listener), "127.0.0.2")}`;
    expect(await refusal(elsewhere, other)).toBe(said(`http://${other}`));
  });

  test.skipIf(identity === undefined)("is seen at its own address with TLS", async () => {
    const elsewhere = `http://${await nobody()}`;
    const port = await listen(secured(listener));
    const secure = `127.0.0.1:${port}`;
    expect(await refusal(elsewhere, secure, true)).toBe(said(`https://${secure}`));
    const everywhere = await refusal(elsewhere, `0.0.0.0:${port}`, true);
    expect(everywhere).toBe(said(`https://${secure}`));
  });
});

test.each<[string, () => Server, RegExp]>([
  ["does not answer", () => createServer(() => undefined), /: it does not answer within 5 s; stop/],
  [
    "does not end its answer",
    () => createServer((_, response) => void response.write("{")),
    /: it does not answer within 5 s; stop/,
  ],
  [
    "ends the connection",
    () => createSocketServer((socket) => socket.destroy()),
    /: it fails with ECONNRESET; stop/,
  ],
  [
    "speaks another protocol",
    () => createSocketServer((socket) => socket.end("220 ready\r\n")),
    /: it fails with HPE_\w+; stop all servers, and run this where/,
  ],
])("it is refused where something %s [CMD-7]", async (_, server, reason) => {
  const port = await listen(server());
  const message = await refusal(`http://127.0.0.1:${port}`, await nobody());
  expect(message).toMatch(/^whether a server runs at http:\S+ is not known/);
  expect(message).toMatch(reason);
  expect(message).not.toContain("\n");
});

describe("a real svc-iam", () => {
  test.skipIf(identity === undefined)(
    "with TLS is seen, and once it is stopped the operator works",
    async () => {
      const port = await freePort();
      const origin = `https://localhost:${port}`;
      const iam = await startIam({
        port,
        server: { http: { address: `127.0.0.1:${port}`, tls: identity } },
        iam: { public_url: origin },
        oidc: { issuer: `${origin}/v1/iam/oidc` },
      });
      const line = new CommandLine();
      const file = join(iam.folder, "service.yaml");
      const running = await line.run("user", "list", "--offline", file);
      expect([running.status, running.stderr]).toEqual([
        2,
        expect.stringContaining(`a server answers at ${origin}`),
      ]);
      await iam.stop();
      expect(await line.run("user", "list", "--offline", file)).toEqual({
        status: 0,
        stdout: "",
        stderr: expect.stringMatching(/^svc-iam: acting as operator:.*\nsvc-iam: no users\n$/),
      });
    },
  );
});

const postgres = spicedbIsAbsent() ? undefined : await openPostgres();
describe.skipIf(postgres === undefined)("a real svc-iam with SpiceDB and PostgreSQL", () => {
  let iam: IamService;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    iam = await startIam({
      authz: { provider: "spicedb", spicedb: { endpoint, token, insecure: true } },
      database: { driver: "postgres", url: postgres?.url, file: undefined },
    });
    await (iam.options.engine as SpicedbEngine).writeSchema(readFileSync(MODEL, "utf8"));
    stop = async () => {
      await iam.stop();
      await spicedb.stop();
      postgres?.remove();
    };
  });
  afterAll(() => stop());

  test("is seen by its lease where its addresses cannot be reached, until it stops [CMD-7]", async () => {
    const config = parse(readFileSync(join(iam.folder, "service.yaml"), "utf8"));
    const port = await freePort();
    config.iam.public_url = `http://localhost:${port}`;
    config.security.authn.oidc.issuer = `${config.iam.public_url}/v1/iam/oidc`;
    config.server.http.address = `127.0.0.1:${port}`;
    const file = join(iam.folder, "elsewhere.yaml");
    writeFileSync(file, stringify(config));
    const line = new CommandLine();
    const { kysely } = iam.options.database as unknown as { kysely: Kysely<any> };
    await until("the first run of the job", async () => {
      const leases = kysely.selectFrom("job_leases").where("name", "=", "removals");
      return Number((await leases.select("due").executeTakeFirst())?.["due"] ?? 0) > 0;
    });
    const running = await line.run("user", "list", "--offline", file);
    expect([running.status, running.stderr]).toEqual([
      2,
      expect.stringContaining("a server uses this database: stop all replicas, wait 30 seconds"),
    ]);
    await iam.stop();
    expect(await line.run("user", "list", "--offline", file)).toEqual({
      status: 0,
      stdout: "",
      stderr: expect.stringMatching(/^svc-iam: acting as operator:.*\nsvc-iam: no users\n$/),
    });
  });
});
