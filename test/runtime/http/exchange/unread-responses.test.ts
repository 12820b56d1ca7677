/** Clients that do not take what they asked for, or have no end of asking. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RawMethod } from "../../../../src/runtime/http/raw/raw-route.ts";
import { budgetOf } from "../../../../src/runtime/wire/message-budget.ts";
import { frame } from "../../grpc/support/raw-call.ts";
import { startWebServer, type WebServer } from "../../rpc-over-http/support/web-server.ts";
import {
  get,
  httpRoute,
  openChain,
  rawMethod,
  readAll,
  start,
  stopAll,
  thingMethod,
} from "../support.ts";

const HOUR_MS = 3_600_000;
const never = new Promise<never>(() => undefined);
const clients: Socket[] = [];
const accepted: Socket[] = [];
const onAccepted = (message: unknown): void => {
  accepted.push((message as { socket: Socket }).socket);
};
let web: WebServer | undefined;

beforeEach(() => subscribe("net.server.socket", onAccepted));
afterEach(async () => {
  unsubscribe("net.server.socket", onAccepted);
  for (const client of clients.splice(0)) client.destroy();
  accepted.length = 0;
  await stopAll();
  await web?.close();
  web = undefined;
});

/** From now on all stays with the server, as where the client reads nothing and the kernel is full. */
function takeNothing(): void {
  const socket = accepted[0] as Socket;
  socket._write = () => undefined;
  socket._writev = () => undefined;
}

/** A connection, and what the server has of it. */
async function open(port: number): Promise<{ client: Socket; socket: Socket }> {
  const client = connect(port, "127.0.0.1");
  client.on("error", () => undefined);
  clients.push(client);
  await expect
    .poll(() => accepted.length, { message: "the server accepts the connection" })
    .toBe(1);
  return { client, socket: accepted[0] as Socket };
}

describe("of a client that does not read, the connection is closed", () => {
  const limits = { sendTimeoutMs: 100 };

  test.each([
    ["ends", false],
    ["fails", true],
  ])("once a stream of lines %s", async (_, fails) => {
    const { port } = await start({
      limits,
      methods: [
        thingMethod("watchThings", [httpRoute("GET /v1/watch/{name}")], async function* () {
          takeNothing();
          yield { name: "a" };
          if (fails) throw new Error("fails");
        }),
      ],
    });
    const { client, socket } = await open(port);
    client.write(get("/v1/watch/a"));
    await once(socket, "close");
  });

  test.each(["before it returns", "after it returned"])(
    "once a raw handler has ended its response, %s",
    async (when) => {
      const { port } = await start({
        limits,
        rawMethods: [
          rawMethod(
            { path: "/raw", match: "exact", methods: ["GET"], exposure: "PUBLIC" },
            ({ response }) => {
              takeNothing();
              response.writeHead(200);
              response.write("a");
              if (when === "before it returns") response.end();
              else setImmediate(() => response.end());
              return undefined;
            },
          ),
        ],
      });
      const { client, socket } = await open(port);
      client.write(get("/raw"));
      await once(socket, "close");
    },
  );
});

describe("large responses count as unread", () => {
  const MIB = 1024 * 1024;
  const large: RawMethod = rawMethod(
    { path: "/large", match: "exact", methods: ["PUT"], exposure: "PUBLIC" },
    () => ({ status: 200, body: "x".repeat(MIB) }),
  );
  const stuck: RawMethod = rawMethod(
    { path: "/stuck", match: "exact", methods: ["PUT"], exposure: "PUBLIC" },
    () => never,
  );
  const put = (path: string, length = 0): string =>
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

  test("while they wait for an earlier response of their connection, until that closes [TRANS-4]", async () => {
    const budget = budgetOf(16 * MIB);
    const { port } = await start({ budget, rawMethods: [large, stuck] });
    const { client } = await open(port);
    client.write(put("/stuck") + put("/large").repeat(3));
    await expect
      .poll(() => budget.unread.bytes, { message: "three responses are held" })
      .toBe(3 * MIB);
    client.destroy();
    await expect.poll(() => budget.unread.bytes, { message: "the responses are released" }).toBe(0);
  });

  test("and if there are too many that wait so, their connection closes [TRANS-4]", async () => {
    const budget = budgetOf(16 * MIB);
    const { port } = await start({ budget, rawMethods: [large, stuck] });
    const { client, socket } = await open(port);
    const closed = once(socket, "close");
    client.write(put("/stuck") + put("/large").repeat(12));
    await closed;
    await expect.poll(() => budget.unread.bytes, { message: "the responses are released" }).toBe(0);
  });

  test("while the rest of their request is awaited [TRANS-4]", async () => {
    const budget = budgetOf(16 * MIB);
    const limits = { lingerMs: HOUR_MS };
    const { port } = await start({ budget, rawMethods: [large], limits });
    const { client } = await open(port);
    takeNothing();
    client.write(put("/large", 100_000));
    await expect.poll(() => budget.unread.bytes, { message: "the response is held" }).toBe(MIB);
  });
});

test("of responses that wait for an earlier one of their connection, the time is bounded", async () => {
  const { port } = await start({
    limits: { sendTimeoutMs: 100 },
    chain: openChain({ timeoutMs: { unary: HOUR_MS, stream: HOUR_MS } }),
    methods: [
      thingMethod("getThing", [httpRoute("GET /v1/things/{name}")], ({ name }: { name: string }) =>
        name === "stuck" ? never : { name: "x".repeat(100_000) },
      ),
    ],
  });
  const { client, socket } = await open(port);
  client.write(get("/v1/things/stuck") + get("/v1/things/large"));
  await once(socket, "close");
});

test("a response without a body is sent before the rest of the request is read", async () => {
  const { port } = await start({
    limits: { lingerMs: 60_000 },
    rawMethods: [
      rawMethod({ path: "/raw", match: "exact", methods: ["PUT"], exposure: "PUBLIC" }, () => ({
        status: 204,
      })),
    ],
  });
  const { client } = await open(port);
  client.write("PUT /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nbegun");
  const [answer] = await once(client, "data");
  expect(String(answer)).toContain("204 No Content");
});

describe("the rest of a request cannot be read after its response has begun", () => {
  const limits = { requestTimeoutMs: 300, headersTimeoutMs: 300, checkingIntervalMs: 20 };
  const body = frame(new Uint8Array());
  const chunk = `${body.length.toString(16)}\r\n${body.toString("latin1")}\r\n`;

  /** Posts one message of a stream whose end does not come. */
  function post(rpc: string): string {
    return `POST /fixture.v1.EchoService/${rpc} HTTP/1.1\r\nHost: x\r\nContent-Type: application/connect+proto\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`;
  }

  test.each([
    ["Chat", "malformed"],
    ["Chat", "late"],
    ["Collect", "malformed"],
    ["Collect", "late"],
  ])("is not reported in it: %s, %s", async (rpc, how) => {
    web = await startWebServer({
      limits: { ...limits, lingerMs: 60_000 },
      // Does not wait for the end of what it is sent.
      handlers: { collect: async () => ({}) },
    });
    const { client } = await open(web.port);
    const all = readAll(client, 5000);
    client.write(post(rpc), "latin1");
    await once(client, "data");
    if (how === "malformed") client.write("zz\r\n");
    expect((await all).match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test("before it, the client is notified", async () => {
    web = await startWebServer({
      limits,
      handlers: {
        collect: (requests) =>
          requests[Symbol.asyncIterator]()
            .next()
            .then(() => never),
      },
    });
    const { client } = await open(web.port);
    const all = readAll(client, 5000);
    client.write(`${post("Collect")}zz\r\n`, "latin1");
    expect(await all).toMatch(/^HTTP\/1\.1 400 /);
  });
});
