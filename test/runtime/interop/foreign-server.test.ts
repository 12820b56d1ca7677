/** The typed client with servers that end calls in every way of the protocol, and in some invalid ways. */
import {
  constants,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createGrpcClient } from "../../../src/runtime/index.ts";
import { TestService } from "./gen/grpc/testing/test_pb.ts";

/** Answers a stream, given its number at this server. */
type Answer = (stream: ServerHttp2Stream, count: number) => void;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A client of a server with these answers. */
async function clientOf(answer: Answer) {
  let count = 0;
  const server = createServer();
  server.on("session", (session) => closing.push(() => session.destroy()));
  server.on("sessionError", () => undefined);
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream, ++count);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = createGrpcClient(TestService, { target: `127.0.0.1:${port}`, retry: false });
  closing.push(
    () => void server.close(),
    () => client.close(),
  );
  return client;
}

const HEADERS = { ":status": 200, "content-type": "application/grpc" };
const EMPTY = Buffer.alloc(5);
/** Three bytes that are marked as compressed. */
const COMPRESSED = Buffer.from([1, 0, 0, 0, 3, 1, 2, 3]);

/** Headers, a message, trailers. */
const whole =
  (message: Buffer, trailers: OutgoingHttpHeaders, headers: OutgoingHttpHeaders = {}): Answer =>
  (stream) => {
    stream.respond({ ...HEADERS, ...headers }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(message);
  };
const only =
  (headers: OutgoingHttpHeaders): Answer =>
  (stream) =>
    stream.respond({ ...HEADERS, ...headers }, { endStream: true });
const reset =
  (code: number): Answer =>
  (stream) =>
    stream.close(code);
const well = whole(EMPTY, { "grpc-status": 0 });

interface Refusal {
  readonly name: string;
  readonly answer: Answer;
  readonly code: string;
  readonly message?: string | RegExp;
}

/** As in gRPC's http-grpc-status-mapping, compression and statuscodes. */
const REFUSALS: readonly Refusal[] = [
  ...(
    [
      [400, "INTERNAL"],
      [401, "UNAUTHORIZED"],
      [403, "FORBIDDEN"],
      [404, "UNIMPLEMENTED"],
      [418, "INTERNAL"],
      [429, "UNAVAILABLE"],
      [500, "INTERNAL"],
      [502, "UNAVAILABLE"],
      [503, "UNAVAILABLE"],
      [504, "UNAVAILABLE"],
    ] as const
  ).map(([status, code]) => ({
    name: `HTTP ${status}, as a proxy answers`,
    answer: only({ ":status": status, "content-type": "text/html" }),
    code,
  })),
  {
    name: "a status after a message",
    answer: whole(EMPTY, { "grpc-status": 5, "grpc-message": "it%20is gone" }),
    code: "RESOURCE_NOT_FOUND",
    message: "it is gone",
  },
  {
    name: "a badly encoded status message",
    answer: only({ "grpc-status": 3, "grpc-message": "50%zz %" }),
    code: "INVALID_ARGUMENT",
    message: "50%zz %",
  },
  { name: "no status", answer: whole(EMPTY, { "x-other": "1" }), code: "INTERNAL" },
  {
    name: "a status that is not a number",
    answer: only({ "grpc-status": "no" }),
    code: "INTERNAL",
  },
  { name: "OK without a message", answer: only({ "grpc-status": 0 }), code: "UNIMPLEMENTED" },
  {
    name: "a message in an unsupported encoding",
    answer: whole(COMPRESSED, { "grpc-status": 0 }, { "grpc-encoding": "snappy" }),
    code: "INTERNAL",
    message: /an encoding that this client does not support/,
  },
  {
    name: "a compressed message without an encoding",
    answer: whole(COMPRESSED, { "grpc-status": 0 }),
    code: "INTERNAL",
    message: /does not name its encoding/,
  },
  {
    name: "a message without its declared compression",
    answer: whole(COMPRESSED, { "grpc-status": 0 }, { "grpc-encoding": "gzip" }),
    code: "INTERNAL",
    message: /decompress/,
  },
  {
    name: "each call reset with REFUSED_STREAM",
    answer: reset(constants.NGHTTP2_REFUSED_STREAM),
    code: "UNAVAILABLE",
  },
  { name: "a call reset as cancelled", answer: reset(constants.NGHTTP2_CANCEL), code: "CANCELLED" },
  {
    name: "a call reset with an error",
    answer: reset(constants.NGHTTP2_INTERNAL_ERROR),
    code: "INTERNAL",
  },
];

describe("a server that ends calls with an error", () => {
  test.each(REFUSALS)("$name: $code", async ({ answer, code, message = /./ }) => {
    const client = await clientOf(answer);
    await expect(client.emptyCall({})).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});

describe("a server whose response still arrives", () => {
  test.each<{ name: string; answer: Answer }>([
    {
      name: "the call is refused at first",
      answer: (stream, count) =>
        count === 1 ? stream.close(constants.NGHTTP2_REFUSED_STREAM) : well(stream, count),
    },
    {
      name: "informational headers come first",
      answer: (stream, count) => {
        stream.additionalHeaders({ ":status": 103 });
        well(stream, count);
      },
    },
    {
      name: "the content type has a codec and parameters",
      answer: whole(EMPTY, { "grpc-status": 0 }, { "content-type": "application/grpc+proto; x=y" }),
    },
    {
      name: "the trailers are many",
      answer: whole(EMPTY, { "grpc-status": 0, "x-long": "a".repeat(12_000) }),
    },
  ])("$name", async ({ answer }) => {
    const client = await clientOf(answer);
    expect(await client.emptyCall({})).toMatchObject({ $typeName: "grpc.testing.Empty" });
  });
});
