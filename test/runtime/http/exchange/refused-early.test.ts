/** Messages that are refused before they have arrived completely: the client still gets the reason. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWebServer, type WebServer } from "../../rpc-over-http/support/web-server.ts";

const MIB = 1024 * 1024;
/** Long enough for a client on a busy machine, which closes its connection itself. */
const LINGER = 3000;

let server: WebServer;
beforeAll(async () => {
  server = await startWebServer({ maxBytes: MIB, limits: { lingerMs: LINGER } });
});
afterAll(() => server.close());

/** A message whose declared length exceeds the limit. */
const message = Buffer.alloc(4 * MIB);
message.writeUInt32BE(message.length - 5, 1);

/** A client in another thread, which writes while the server responds: the outcomes of its requests. */
const CLIENT = `
  const { Agent, request } = require("node:http");
  const { parentPort, workerData: { options, body, times } } = require("node:worker_threads");
  if (options.agent !== false) options.agent = new Agent(options.agent);
  const send = () => new Promise((resolve) => {
    const call = request(options, (response) =>
      response.resume().on("error", ({ code }) => resolve(code)).on("end", () => resolve(response.statusCode)));
    call.on("error", ({ code }) => resolve(code));
    call.end(body);
  });
  (async () => {
    const outcomes = new Set();
    for (let time = 0; time < times; time++) outcomes.add(await send());
    parentPort.postMessage([...outcomes]);
  })();
`;

/** The statuses of responses, and the codes of errors if none arrives completely. */
async function send(type: string, agent: false | object, body: string | Uint8Array) {
  const options = {
    ...{ host: "127.0.0.1", port: server.port, method: "POST", agent },
    ...{ path: "/fixture.v1.EchoService/Echo", headers: { "content-type": type } },
  };
  const client = new Worker(CLIENT, { eval: true, workerData: { options, body, times: 15 } });
  const [outcomes] = await once(client, "message");
  return outcomes as unknown[];
}

test.each([
  ["application/grpc-web", 200, message],
  ["application/grpc-web-text", 200, message.toString("base64")],
  ["application/proto", 429, message],
])("%s", async (type, status, body) => {
  for (const agent of [false, { keepAlive: true }] as const) {
    expect(await send(type, agent, body)).toEqual([status]);
  }
});

test("a client that keeps sending is cut off in time", async () => {
  const socket = connect(server.port, "127.0.0.1");
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => undefined).resume();
  socket.write(
    "POST /fixture.v1.EchoService/Echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n",
  );
  socket.write("Content-Type: application/grpc-web\r\n\r\n");
  socket.write(message.subarray(0, 5));
  let sent = 0;
  const more = (): void => {
    while (!socket.destroyed && socket.write(message)) sent += message.length;
  };
  socket.on("drain", () => {
    sent += message.length;
    more();
  });
  more();
  const begun = performance.now();
  await closed;
  expect(performance.now() - begun).toBeLessThan(20 * LINGER);
  expect(sent).toBeLessThan(64 * MIB);
});

test.each(["application/grpc-web", "application/grpc-web-text", "application/connect+proto"])(
  "%s: the response is complete while the rest of the request is awaited",
  async (type) => {
    const patient = await startWebServer({ maxBytes: MIB, limits: { lingerMs: 3_600_000 } });
    const rpc = type === "application/connect+proto" ? "Expand" : "Echo";
    const call = request({
      ...{ host: "127.0.0.1", port: patient.port, method: "POST" },
      ...{ path: `/fixture.v1.EchoService/${rpc}`, headers: { "content-type": type } },
    });
    const begun = message.subarray(0, 6);
    call.on("error", () => undefined);
    call.write(type.endsWith("-text") ? begun.toString("base64") : begun);
    const [response] = await once(call, "response");
    expect(response.statusCode).toBe(200);
    const parts = await response.toArray();
    expect(Number(response.headers["content-length"])).toBe(Buffer.concat(parts).length);
    expect(response.complete).toBe(true);
    call.destroy();
    await patient.close();
  },
);
