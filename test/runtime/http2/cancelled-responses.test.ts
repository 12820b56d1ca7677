/** Large responses that clients cancel do not use up the connection, which may carry other callers. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { runs } from "../../support/effort.ts";
import { type EchoRequest, EchoResponseSchema } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { startEchoServer } from "../grpc/support/echo-server.ts";
import { frame } from "../grpc/support/raw-call.ts";
import { startWebServer } from "../rpc-over-http/support/web-server.ts";

const BYTES = 3 * 1024 * 1024;
/** More than 128 MiB, which a connection could lose. */
const CANCELLED = runs(100, 10);
const MAX_BYTES = 4 * 1024 * 1024;
/** The field `text`: "small". */
const SMALL = Buffer.from("\x0a\x05small");
const NOTHING = new Uint8Array();

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const text = "x".repeat(BYTES);
const handlers = {
  echo: async (request: EchoRequest) =>
    create(EchoResponseSchema, { text: request.text === "small" ? "small" : text }),
};

function startHttp() {
  return startWebServer({ handlers, maxBytes: MAX_BYTES });
}

function startGrpc() {
  return startEchoServer({ handlers, config: { max_message_bytes: MAX_BYTES } });
}

function call(session: ClientHttp2Session, type: string, message: Uint8Array) {
  const stream = session.request({
    ":method": "POST",
    ":path": "/fixture.v1.EchoService/Echo",
    "content-type": type,
    te: "trailers",
  });
  stream.on("error", () => undefined);
  stream.end(type === "application/proto" ? message : frame(message));
  return stream;
}

test.each([
  ["the HTTP port, Connect", startHttp, "application/proto"],
  ["the HTTP port, gRPC-Web", startHttp, "application/grpc-web+proto"],
  ["the gRPC port", startGrpc, "application/grpc"],
])("%s", async (_, start, type) => {
  const { port, close } = await start();
  opened.push(close);
  const session = connect(`http://127.0.0.1:${port}`);
  opened.push(() => session.destroy());
  session.on("error", () => undefined);

  for (let count = 0; count < CANCELLED; count++) {
    const stream = call(session, type, NOTHING);
    // Nothing is read, so the client's window keeps most of the response with the server.
    stream.pause();
    await Promise.race([once(stream, "response"), once(stream, "close")]);
    expect(stream.closed).toBe(false);
    stream.close(constants.NGHTTP2_CANCEL);
    await once(stream, "close");
  }

  const stream = call(session, type, SMALL);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  expect(Buffer.concat(chunks).toString("latin1")).toContain("small");
});
