/** Interrupted streams: no handler mistakes the received part for the whole. */
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import { envelopeOf } from "../../../../src/runtime/wire/envelope.ts";
import { budgetOf } from "../../../../src/runtime/wire/message-budget.ts";
import { EchoRequestSchema } from "../../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import {
  END_HEADERS,
  FRAME,
  headerBlock,
  RawHttp2,
  rawFrame,
  uint32,
} from "../../hostile/support/raw-http2.ts";
import { startWebServer, type WebServerOptions } from "../support/web-server.ts";

const TYPES = ["application/grpc", "application/grpc-web+proto", "application/connect+proto"];
const KIB = 1024;

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A server that records the messages of a stream, and the end that its handler sees. */
async function startCollecting(options: WebServerOptions = {}) {
  const reported: string[] = [];
  const server = await startWebServer({
    ...options,
    handlers: {
      async collect(requests) {
        let count = 0;
        try {
          for await (const _ of requests) {
            count++;
            reported.push("message");
          }
          reported.push(`end after ${count}`);
        } catch (error) {
          reported.push((error as { code: string }).code);
          throw error;
        }
        return { text: "", count };
      },
    },
  });
  opened.push(() => server.close());
  return { port: server.port, reported };
}

async function callCollect(port: number, type: string, path = "/fixture.v1.EchoService/Collect") {
  const client = new RawHttp2(port);
  opened.push(() => client.socket.destroy());
  const headers = headerBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "x"],
    ["content-type", type],
    ["te", "trailers"],
  ]);
  client.socket.write(rawFrame(FRAME.HEADERS, END_HEADERS, 1, headers));
  return {
    client,
    send: (bytes: Uint8Array) => client.socket.write(rawFrame(FRAME.DATA, 0, 1, bytes)),
    reset: (code: number) => client.socket.write(rawFrame(FRAME.RST_STREAM, 0, 1, uint32(code))),
  };
}

const message = (text: string) =>
  envelopeOf(Buffer.concat([Buffer.of(0x0a, text.length), Buffer.from(text)]));

describe.each(TYPES)("%s", (type) => {
  test.each([
    ["RST_STREAM with CANCEL", 8],
    ["RST_STREAM with NO_ERROR", 0],
    ["the connection", undefined],
  ])("a stream that ends by %s is cancelled", async (_, code) => {
    const { port, reported } = await startCollecting();
    const { client, send, reset } = await callCollect(port, type);
    send(message("a"));
    send(message("b"));
    await expect
      .poll(() => reported, { message: "the handler receives two messages" })
      .toEqual(["message", "message"]);
    if (code === undefined) client.socket.end();
    else reset(code);
    await expect
      .poll(() => reported.at(-1), { message: "the handler is notified of the cancellation" })
      .toBe("CANCELLED");
    expect(reported).toEqual(["message", "message", "CANCELLED"]);
  });

  test("a waiting handler is notified of the deadline", async () => {
    const chain = { timeoutMs: { unary: 100, stream: 100 } };
    const { port, reported } = await startCollecting({ chain });
    const { send } = await callCollect(port, type);
    send(message("a"));
    await expect
      .poll(() => reported.at(-1), { message: "the handler is notified of the deadline" })
      .toBe("DEADLINE_EXCEEDED");
  });

  test("an incomplete message counts for the memory limit, and is dropped for others", async () => {
    const budget = budgetOf(400 * KIB);
    const { port, reported } = await startCollecting({ budget });
    const partial = Buffer.concat([Buffer.of(0, 0, 4, 0, 0), Buffer.alloc(60 * KIB)]);
    const first = await callCollect(port, type);
    for (let sent = 0; sent < partial.length; sent += 8 * KIB) {
      first.send(partial.subarray(sent, sent + 8 * KIB));
    }
    await expect
      .poll(() => budget.process.taken, {
        message: "the incomplete message counts for the memory limit",
      })
      .toBeGreaterThan(50 * KIB);
    first.client.socket.destroy();
    await expect
      .poll(() => budget.process.taken, {
        message: "the memory of the incomplete message is released",
      })
      .toBe(0);
    await expect
      .poll(() => reported, { message: "the handler is notified of the cancellation" })
      .toEqual(["CANCELLED"]);
  });
});

/** With this setting, the client accepts no byte of any response. */
const NO_WINDOW = rawFrame(FRAME.SETTINGS, 0, 0, Buffer.of(0, 4, 0, 0, 0, 0));
const ECHO = "/fixture.v1.EchoService/Echo";

function echoCall(stream: number, type: string, body: Buffer): Buffer {
  const headers = headerBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", ECHO],
    [":authority", "x"],
    ["content-type", type],
  ]);
  const frames = [rawFrame(FRAME.HEADERS, END_HEADERS, stream, headers)];
  for (let sent = 0; sent < body.length; sent += 8 * KIB) {
    const isLast = sent + 8 * KIB >= body.length;
    frames.push(rawFrame(FRAME.DATA, isLast ? 1 : 0, stream, body.subarray(sent, sent + 8 * KIB)));
  }
  return Buffer.concat(frames);
}

/** An EchoRequest of a size; its response has the same size. */
function large(bytes: number): Buffer {
  const message = create(EchoRequestSchema, { text: "x".repeat(bytes) });
  return Buffer.from(toBinary(EchoRequestSchema, message));
}

describe("a client that reads no response", () => {
  test.each([...TYPES.slice(0, 2), "application/proto"])(
    "holds no memory of its requests, and loses the oldest of many responses: %s",
    async (type) => {
      const budget = budgetOf(400 * KIB);
      const { port } = await startCollecting({ budget });
      const client = new RawHttp2(port);
      opened.push(() => client.socket.destroy());
      client.socket.write(NO_WINDOW);
      const body = type === "application/proto" ? large(45 * KIB) : envelopeOf(large(45 * KIB));
      const isReset = (id: number) =>
        client.received.some(({ type: of, stream }) => of === FRAME.RST_STREAM && stream === id);
      const hasBegun = (id: number) =>
        client.received.some(({ type: of, stream }) => of === FRAME.HEADERS && stream === id);
      for (const stream of [1, 3, 5, 7, 9]) {
        client.socket.write(echoCall(stream, type, body));
        await expect.poll(() => hasBegun(stream), { message: "the response begins" }).toBe(true);
        await expect
          .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
          .toBe(0);
      }
      await expect.poll(() => isReset(1), { message: "the oldest response is cut off" }).toBe(true);
      expect([3, 5, 7, 9].map(isReset)).toEqual([false, false, false, false]);
      expect(budget.unread.bytes).toBeGreaterThan(4 * 45 * KIB);
      client.socket.destroy();
      await expect
        .poll(() => budget.unread.bytes, { message: "the responses are released" })
        .toBe(0);
    },
  );
});

test("health accepts no large message", async () => {
  const budget = budgetOf(400 * KIB);
  const { port } = await startCollecting({ budget });
  const { client, send } = await callCollect(
    port,
    "application/grpc",
    "/grpc.health.v1.Health/Check",
  );
  send(Buffer.of(0, 0, 2, 0, 0));
  await expect
    .poll(
      () => client.received.some(({ type, stream }) => type === FRAME.HEADERS && stream === 1),
      { message: "the response of the first stream arrives" },
    )
    .toBe(true);
  expect(budget.process.taken).toBe(0);
});
