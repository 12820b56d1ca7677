/** Requests of another Node.js server: the same chain serves them while the server runs. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type Agent, createServer, type IncomingMessage, request } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, test } from "vitest";
import { createLogger, createServer as createRuntime } from "../../../../src/runtime/index.ts";
import { VaultService } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import {
  INTERNAL_TOKEN,
  type RunningVault,
  shareDocument,
  startVault,
  type VaultOptions,
  vaultConfiguration,
} from "../../support/vault-server.ts";

const ALICE = { "x-svc-external-sub": "alice" };
const HUB = { "x-svc-internal-token": INTERNAL_TOKEN };
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A vault without its own port. */
async function startUnlistened(options: VaultOptions = {}): Promise<RunningVault> {
  const vault = await startVault({ listenHttp: false, ...options });
  opened.push(() => vault.stop());
  await shareDocument(vault.engine);
  return vault;
}

type Listener = NonNullable<RunningVault["server"]["requestListener"]>;

const listenerOf = ({ server }: RunningVault) => server.requestListener as Listener;

async function serve(listener: Listener): Promise<string> {
  const own = createServer(listener);
  own.listen(0, "127.0.0.1");
  await once(own, "listening");
  opened.push(() => {
    own.closeAllConnections();
    return new Promise((resolve) => own.close(resolve));
  });
  return `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
}

/** A promise that the test resolves. */
function signal() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; agent?: Agent } = {},
): Promise<Answer> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, rest, async (response) => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers });
    });
    outgoing.on("error", reject);
    outgoing.on("continue", () => outgoing.end(body));
    if (rest.headers?.["expect"] === undefined) outgoing.end(body);
    else outgoing.flushHeaders();
  });
}

describe("a request of another server", () => {
  test.each([
    ["PUBLIC", "/v1/notices/n1", {}, 200],
    ["a caller", "/v1/documents/open", ALICE, 200],
    ["no caller", "/v1/documents/open", {}, 401],
    ["a caller without access", "/v1/documents/closed", ALICE, 403],
    ["a probe", "/readyz", {}, 200],
    ["an unknown path", "/nowhere", {}, 404],
    ["an invalid path", "/v1/%zz", {}, 400],
  ])("%s: as on the port", async (_, path, headers, status) => {
    const vault = await startUnlistened();
    const answer = await send((await serve(listenerOf(vault))) + path, { headers });
    expect(answer.status).toBe(status);
    expect(vault.http).toBe(0);
  });

  test("has no identity from an untrusted peer", async () => {
    const security = { authn: { gateway: { trusted_peers: ["192.0.2.1"] } } };
    const vault = await startUnlistened({ security });
    const url = `${await serve(listenerOf(vault))}/v1/documents/open`;
    expect((await send(url, { headers: ALICE })).status).toBe(401);
  });

  test("may be of Connect and gRPC-Web, with streams", async () => {
    const baseUrl = await serve(listenerOf(await startUnlistened()));
    const options = { baseUrl, httpVersion: "1.1" } as const;
    for (const transport of [createConnectTransport(options), createGrpcWebTransport(options)]) {
      const client = createClient(VaultService, transport);
      const answer = await client.getDocument({ documentId: "open" }, { headers: ALICE });
      expect(answer).toMatchObject({ subjectId: "alice", echo: "open" });
      const echoes: string[] = [];
      const watch = { documentId: "open", count: 3 };
      for await (const { echo } of client.watchDocument(watch, { headers: ALICE })) {
        echoes.push(echo);
      }
      expect(echoes).toEqual(["0", "1", "2"]);
    }
  });

  test("sends 100 Continue to its client once", async () => {
    const url = await serve(listenerOf(await startUnlistened()));
    const answer = await send(`${url}/v1/documents/open`, {
      method: "PUT",
      headers: { ...ALICE, expect: "100-continue", "content-type": "application/json" },
      body: '{"text":"new"}',
    });
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('"echo":"new"') });
  });

  test("whose body was already read is an error that names the mistake", async () => {
    const listener = listenerOf(await startUnlistened());
    const url = await serve((incoming, response) => {
      incoming.resume().on("end", () => listener(incoming, response));
    });
    const answer = await send(`${url}/v1/documents/open`, {
      method: "PUT",
      headers: { ...ALICE, "content-type": "application/json" },
      body: '{"text":"new"}',
    });
    expect(answer.status).toBe(500);
    expect(answer.body).toContain("do not run a body parser before it");
  });

  test("that already has a response is ignored", async () => {
    const listener = listenerOf(await startUnlistened());
    const url = await serve((incoming, response) => {
      response.writeHead(202).end("mine");
      listener(incoming, response);
    });
    expect(await send(`${url}/v1/notices/n1`)).toMatchObject({ status: 202, body: "mine" });
  });

  test("of HTTP/2 is refused, since the server's own port serves those", async () => {
    const listener = listenerOf(await startUnlistened()) as never;
    const own = createHttp2Server(listener).listen(0, "127.0.0.1");
    await once(own, "listening");
    const session = connectHttp2(`http://127.0.0.1:${(own.address() as AddressInfo).port}`);
    opened.push(
      () => own.close(),
      () => session.destroy(),
    );
    const stream = session.request({ ":path": "/v1/documents/open", ...ALICE });
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(505);
    stream.resume();
  });
});

describe("another server", () => {
  test("gets refusals before the start and after the end, even of PUBLIC calls", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-access-vault-"));
    opened.push(() => rmSync(folder, { recursive: true }));
    const server = await createRuntime({
      configuration: vaultConfiguration(folder, {}, {}),
      bindings: [bindVaultService(vaultHandlers())],
      logger: createLogger({ destination: { write: () => undefined } }),
      listenHttp: false,
    });
    const url = `${await serve(server.requestListener as Listener)}/v1/notices/n1`;
    expect((await send(url)).status).toBe(503);
    expect(await server.start()).not.toHaveProperty("http");
    expect((await send(url)).status).toBe(200);
    await server.stop();
    const answer = await send(url);
    expect(answer).toMatchObject({ status: 503, headers: { connection: "close" } });
  });

  test("has its calls completed at shutdown, and their connections closed", async () => {
    const begun = signal();
    const gate = signal();
    const usual = vaultHandlers();
    const vault = await startUnlistened({
      bindings: [
        bindVaultService({
          ...usual,
          async getNotice(message, context) {
            begun.resolve();
            await gate.promise;
            return usual.getNotice(message, context);
          },
        }),
      ],
    });
    const url = await serve(listenerOf(vault));
    const answered = send(`${url}/v1/notices/n1`);
    await begun.promise;
    let isStopped = false;
    const stopped = vault.stop().then(() => {
      isStopped = true;
    });
    await expect
      .poll(async () => (await send(`${url}/readyz`)).status, {
        message: "the server is no longer ready",
      })
      .toBe(503);
    expect(isStopped).toBe(false);
    gate.resolve();
    expect(await answered).toMatchObject({ status: 200, headers: { connection: "close" } });
    await stopped;
  });

  test("has its calls cut off when the shutdown timeout has passed", async () => {
    const begun = signal();
    const vault = await startUnlistened({
      config: {
        server: { http: { address: "127.0.0.1:0" }, shutdown_timeout_ns: 1_000_000 },
      },
      bindings: [
        bindVaultService({
          ...vaultHandlers(),
          async *watchDocument() {
            yield { echo: "begun" };
            begun.resolve();
            await new Promise(() => undefined);
          },
        }),
      ],
    });
    const url = `${await serve(listenerOf(vault))}/v1/documents/open:watch?count=1`;
    const answered = send(url, { headers: ALICE }).catch((error: unknown) => error);
    await begun.promise;
    await vault.stop();
    await answered;
  });

  test("may serve beside the port", async () => {
    const vault = await startUnlistened({ listenHttp: true });
    const own = await serve(listenerOf(vault));
    for (const origin of [own, `http://127.0.0.1:${vault.http}`]) {
      expect((await send(`${origin}/v1/notices/n1`)).status).toBe(200);
    }
    const reset = { method: "POST", headers: { ...HUB, "content-type": "application/json" } };
    const answer = await send(`${own}/v1/documents:reconcile`, { ...reset, body: "{}" });
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining("hub") });
  });

  test("has no listener without HTTP", async () => {
    const vault = await startVault({ config: { server: { grpc: { address: "127.0.0.1:0" } } } });
    opened.push(() => vault.stop());
    expect(vault.server.requestListener).toBeUndefined();
  });
});
