/** Responses over HTTP/2 that end before their requests do. */
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { frame } from "../grpc/support/raw-call.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type HeaderList,
  headerBlock,
  RawHttp2,
  type ReceivedFrame,
  rawFrame,
  uint32,
} from "../hostile/support/raw-http2.ts";
import { rawMethod, start, stopAll } from "../http/support.ts";
import { startWebServer, type WebServer } from "../rpc-over-http/support/web-server.ts";

const PROTOCOLS = [
  ["HTTP", "/nothing", "application/json"],
  ["Connect", "/fixture.v1.EchoService/Echo", "application/proto"],
  ["Connect with streams", "/fixture.v1.EchoService/Expand", "application/connect+proto"],
  ["gRPC-Web", "/fixture.v1.EchoService/Echo", "application/grpc-web+proto"],
  ["gRPC", "/fixture.v1.EchoService/Echo", "application/grpc"],
] as const;
const INITIAL_WINDOW_SIZE = 4;

let server: WebServer;
let client: RawHttp2;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  server = await startWebServer({ maxBytes: 1000, limits: { sendTimeoutMs: 300 } });
  client = new RawHttp2(server.port);
});
afterEach(async () => {
  vi.useRealTimers();
  client.end();
  await server.close();
});

const ofStream = ({ stream }: ReceivedFrame) => stream === 1;
const isReset = (one: ReceivedFrame) => ofStream(one) && one.type === FRAME.RST_STREAM;
const isEnd = (one: ReceivedFrame) =>
  ofStream(one) && one.type !== FRAME.RST_STREAM && (one.flags & END_STREAM) !== 0;

/** Begins a request that is too large, and does not end it. */
async function begin(path: string, type: string): Promise<void> {
  const headers: HeaderList = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "echo"],
    ["content-type", type],
  ];
  await client.send(
    rawFrame(FRAME.HEADERS, END_HEADERS, 1, headerBlock(headers)),
    rawFrame(FRAME.DATA, 0, 1, frame(Buffer.alloc(1500))),
  );
}

describe.each(PROTOCOLS)("%s", (name, path, type) => {
  test("ends completely, and then reports that the rest is not needed", async () => {
    await begin(path, type);
    const reset = await client.frame(isReset);
    expect(reset?.payload.readUInt32BE(0)).toBe(constants.NGHTTP2_NO_ERROR);
    const mine = client.received.filter(ofStream);
    expect(mine.findIndex(isEnd)).toBe(mine.length - 2);
  });

  test("does the same for a client that does not read it yet", async () => {
    const noWindow = Buffer.concat([Buffer.of(0, INITIAL_WINDOW_SIZE), uint32(0)]);
    await client.send(rawFrame(FRAME.SETTINGS, 0, 0, noWindow));
    await begin(path, type);
    await client.frame(ofStream);
    for (let turn = 0; turn < 300; turn++) await nextTurn();
    // An error of gRPC comes in headers, which have no window.
    if (name !== "gRPC") expect(client.received.some(isReset)).toBe(false);
    await client.send(rawFrame(FRAME.WINDOW_UPDATE, 0, 1, uint32(10_000)));
    await client.frame(isEnd);
    await vi.waitFor(() => {
      vi.advanceTimersByTime(20);
      expect(client.received.some(isReset)).toBe(true);
    });
    const mine = client.received.filter(ofStream);
    expect(mine.findIndex(isEnd)).toBeLessThan(mine.findIndex(isReset));
  });
});

test.each(PROTOCOLS.filter(([name]) => name !== "gRPC"))(
  "%s has its end with its last bytes, for a client that cuts its request short by then",
  async (_name, path, type) => {
    await begin(path, type);
    const last = await client.frame(
      (one) => ofStream(one) && one.type === FRAME.DATA && one.payload.length > 0,
    );
    const end = await client.frame(isEnd);
    expect(end).toBe(last);
  },
);

test.each(PROTOCOLS.filter(([name]) => name !== "gRPC"))(
  "%s does not keep for ever what a client never takes",
  async (_name, path, type) => {
    const noWindow = Buffer.concat([Buffer.of(0, INITIAL_WINDOW_SIZE), uint32(0)]);
    await client.send(rawFrame(FRAME.SETTINGS, 0, 0, noWindow));
    await begin(path, type);
    await client.frame(isReset);
    expect(client.received.some(isEnd)).toBe(false);
    expect(client.isClosed).toBe(false);
  },
);

test.each(PROTOCOLS)("%s has its headers and its end in one packet", async (_name, path, type) => {
  const pieces: number[] = [];
  client.socket.on("data", () => pieces.push(client.received.filter(ofStream).length));
  await begin(path, type);
  await client.frame(isEnd);
  const frames = client.received.filter(ofStream).findIndex(isEnd) + 1;
  expect(pieces.find((count) => count > 0)).toBeGreaterThanOrEqual(frames);
});

test("trailers that a raw handler announces follow its bytes", async () => {
  const path = { path: "/raw", match: "exact", methods: ["GET"], exposure: "PUBLIC" } as const;
  const raw = rawMethod(path, ({ response }) => {
    response.writeHead(200, ["Trailer", "x-sum"]);
    response.write("a");
    response.addTrailers({ "x-sum": "1" });
    response.end("b");
    return undefined;
  });
  const { origin } = await start({ rawMethods: [raw] });
  const session = connect(origin);
  const stream = session.request({ ":path": "/raw" });
  stream.resume();
  const [trailers] = await once(stream, "trailers");
  expect(trailers).toMatchObject({ "x-sum": "1" });
  session.destroy();
  await stopAll();
});
