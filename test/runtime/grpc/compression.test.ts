import type { ClientHttp2Session } from "node:http2";
import { gunzipSync, inflateSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EchoRequest,
  EchoRequestSchema,
  type EchoResponse,
  EchoResponseSchema,
} from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const ECHO = "/fixture.v1.EchoService/Echo";
const EXPAND = "/fixture.v1.EchoService/Expand";
const SMALL = 1024;
const LARGE = 64 * 1024;

let echo: EchoServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  echo = await startEchoServer({
    handlers: {
      echo: async ({ count }: EchoRequest) => ({ data: new Uint8Array(count) }),
      expand: async function* () {
        for (const size of [SMALL, LARGE]) yield { data: new Uint8Array(size) };
      },
    },
  });
  session = rawSession(echo.port);
});
afterAll(async () => {
  session.destroy();
  await echo.close();
});

/** What is asked for is so many bytes. */
const asking = (count: number) =>
  frame(toBinary(EchoRequestSchema, create(EchoRequestSchema, { count })));

describe("a large response is compressed if the client accepts gzip", () => {
  test.each([
    { accepts: "gzip", size: LARGE, compressed: true },
    { accepts: "identity,deflate,gzip", size: LARGE, compressed: true },
    { accepts: "identity , gzip", size: LARGE, compressed: true },
    { accepts: "gzip", size: SMALL, compressed: false },
    { accepts: "identity", size: LARGE, compressed: false },
    { accepts: "xgzip", size: LARGE, compressed: false },
    { accepts: "", size: LARGE, compressed: false },
    { accepts: undefined, size: LARGE, compressed: false },
  ])("$accepts, $size bytes: $compressed", async ({ accepts, size, compressed }) => {
    const headers = accepts === undefined ? {} : { "grpc-accept-encoding": accepts };
    const answer = await rawCall(session, ECHO, headers, asking(size));
    expect(answer.grpcStatus).toBe(0);
    expect(answer.headers["grpc-encoding"]).toBe(compressed ? "gzip" : undefined);
    expect(answer.body[0]).toBe(compressed ? 1 : 0);
    expect(answer.body.readUInt32BE(1)).toBe(answer.body.length - 5);
    const message = answer.body.subarray(5);
    const data = compressed ? gunzipSync(message) : message;
    expect(fromBinary(EchoResponseSchema, data).data.length).toBe(size);
    if (compressed) expect(message.length).toBeLessThan(size / 10);
  });
});

test("deflate is used for a client that does not accept gzip", async () => {
  const accepted = { "grpc-accept-encoding": "identity,deflate" };
  const { headers, body } = await rawCall(session, ECHO, accepted, asking(LARGE));
  expect(headers["grpc-encoding"]).toBe("deflate");
  expect(fromBinary(EchoResponseSchema, inflateSync(body.subarray(5))).data.length).toBe(LARGE);
});

test("in a stream, each message by its size", async () => {
  const { headers, body, grpcStatus } = await rawCall(
    session,
    EXPAND,
    { "grpc-accept-encoding": "gzip" },
    asking(0),
  );
  expect(grpcStatus).toBe(0);
  expect(headers["grpc-encoding"]).toBe("gzip");
  const second = 5 + body.readUInt32BE(1);
  expect([body[0], body[second]]).toEqual([0, 1]);
  const data = gunzipSync(body.subarray(second + 5));
  expect(fromBinary(EchoResponseSchema, data).data.length).toBe(LARGE);
});

test("an error is reported as usual, and is not compressed", async () => {
  const answer = await rawCall(session, ECHO, { "grpc-accept-encoding": "gzip" }, asking(-1));
  expect(answer).toMatchObject({ grpcStatus: 13, reason: "INTERNAL" });
  expect(answer.headers["grpc-encoding"]).toBeUndefined();
});

test("if it is disabled, nothing is compressed", async () => {
  const plain = await startEchoServer({ config: { compression: false } });
  const own = rawSession(plain.port);
  const data = toBinary(
    EchoRequestSchema,
    create(EchoRequestSchema, { data: new Uint8Array(LARGE) }),
  );
  const answer = await rawCall(own, ECHO, { "grpc-accept-encoding": "gzip" }, frame(data));
  expect(answer.headers["grpc-encoding"]).toBeUndefined();
  expect(answer.body[0]).toBe(0);
  own.destroy();
  await plain.close();
});

test("the client of grpc-js reads it, and may compress its requests", async () => {
  const client = new Client(echo.target, credentials.createInsecure(), {
    "grpc.default_compression_algorithm": 2,
  });
  const response = await new Promise<EchoResponse | undefined>((resolve, reject) =>
    client.makeUnaryRequest(
      ECHO,
      (value: EchoRequest) => Buffer.from(toBinary(EchoRequestSchema, value)),
      (bytes: Buffer) => fromBinary(EchoResponseSchema, bytes),
      create(EchoRequestSchema, { count: LARGE, text: "x".repeat(SMALL) }),
      (error, value) => (error === null ? resolve(value) : reject(error)),
    ),
  );
  expect(response?.data.length).toBe(LARGE);
  client.close();
});
