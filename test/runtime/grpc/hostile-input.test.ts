import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type OutgoingHttpHeaders,
} from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Call } from "../../../src/runtime/call/call.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { EchoRequestSchema, EchoResponseSchema } from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const ECHO = "/fixture.v1.EchoService/Echo";
const COLLECT = "/fixture.v1.EchoService/Collect";
const MAX = 64 * 1024;
const hello = toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: "hello" }));
const bomb = Buffer.alloc(10 * 1024 * 1024);

let echo: EchoServer;
let session: ClientHttp2Session;
let last: Call | undefined;
let deny = false;
/** How calls ended for those who watch them. */
const ended: (string | undefined)[] = [];

beforeAll(async () => {
  echo = await startEchoServer({
    config: { max_message_bytes: MAX },
    chain: {
      authentication: (call) => {
        last = call;
        if (deny) throw new ServiceError("UNAUTHORIZED");
      },
      observers: [{ end: (_call, error) => void ended.push(error?.code) }],
    },
  });
  session = rawSession(echo.port);
});
afterAll(async () => {
  session.destroy();
  await echo.close();
});

interface Hostile {
  readonly name: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  readonly status: number;
  readonly reason: string;
  readonly message: RegExp;
}

interface Refused {
  readonly name: string;
  readonly path?: string;
  readonly encoding?: string;
  readonly body: Uint8Array;
  readonly status: number;
  readonly code: string;
}

const hostile: readonly Hostile[] = [
  ...["", "1", "S", "-1S", "1.5S", "123456789S", "1x", "1 S", "1S;", "infinite", "0x1S"].map(
    (value) => ({
      name: `39: grpc-timeout "${value}"`,
      headers: { "grpc-timeout": value },
      status: 3,
      reason: "INVALID_ARGUMENT",
      message: /grpc-timeout/,
    }),
  ),
  {
    name: "39: grpc-timeout twice",
    headers: { "grpc-timeout": ["1S", "1H"] },
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /more than once/,
  },
  ...["br", "GZIP", "gzip,identity", "x".repeat(200)].map((value) => ({
    name: `39: grpc-encoding ${value.slice(0, 20)}`,
    headers: { "grpc-encoding": value },
    status: 12,
    reason: "UNIMPLEMENTED",
    message: /encoding is not supported/,
  })),
  {
    name: "39: grpc-encoding twice",
    headers: { "grpc-encoding": ["gzip", "identity"] },
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /more than once/,
  },
  {
    name: "a compressed message without an encoding",
    body: frame(gzipSync(hello), 1),
    status: 13,
    reason: "INVALID_ARGUMENT",
    message: /^a message is compressed, but the request does not name the encoding$/,
  },
  {
    name: "a flag byte that means nothing",
    body: frame(hello, 2),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /flags that are not allowed in a request/,
  },
  {
    name: "a stream that ends within a message",
    path: COLLECT,
    body: Buffer.concat([frame(hello), frame(hello, 0, hello.length + 1)]),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /ends within a message/,
  },
  {
    name: "a request that ends within a prefix",
    body: Buffer.from([0, 0]),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /ends within a message/,
  },
  {
    name: "a request that ends within a message",
    body: frame(hello, 0, hello.length + 1),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /ends within a message/,
  },
  {
    name: "no message",
    body: new Uint8Array(),
    status: 12,
    reason: "INVALID_ARGUMENT",
    message: /no message/,
  },
  {
    name: "two messages",
    body: Buffer.concat([frame(hello), frame(hello)]),
    status: 12,
    reason: "INVALID_ARGUMENT",
    message: /more than one/,
  },
  {
    name: "no protobuf",
    body: frame(Buffer.from("{}")),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /^the request is not a valid fixture.v1.EchoRequest$/,
  },
  {
    name: "no protobuf, in a stream",
    path: COLLECT,
    body: Buffer.concat([frame(hello), frame(Buffer.from([0x0a, 0xff]))]),
    status: 3,
    reason: "INVALID_ARGUMENT",
    message: /^the request is not a valid fixture.v1.EchoRequest$/,
  },
  ...[
    "/fixture.v1.EchoService/Nothing",
    "/fixture.v1.Nothing/Echo",
    `${ECHO}/`,
    `/${ECHO}`,
    `${ECHO}?x=1`,
    "/fixture.v1.EchoService/../EchoService/Echo",
    "/FIXTURE.V1.ECHOSERVICE/ECHO",
    "/fixture.v1.EchoService%2fEcho",
    "/__proto__",
    "/",
  ].map((path) => ({
    name: `36: unknown path ${path}`,
    path,
    status: 12,
    reason: "UNIMPLEMENTED",
    message: /no such RPC/,
  })),
];

describe("refuses", () => {
  test.each(hostile)("$name", async ({ path, headers, body, status, reason, message }) => {
    const answer = await rawCall(session, path ?? ECHO, headers, body ?? frame(hello));
    expect(answer).toMatchObject({ httpStatus: 200, grpcStatus: status, reason });
    expect(answer.message).toMatch(message);
    expect(answer.message).not.toContain("\n");
    expect(answer.headers["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
    expect(answer.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
    expect(answer.streamError).toBeUndefined();
  });

  test.each([
    { name: "38: no content type", headers: { "content-type": [] as string[] }, http: 415 },
    { name: "38: JSON", headers: { "content-type": "application/json" }, http: 415 },
    { name: "38: gRPC-Web", headers: { "content-type": "application/grpc-web" }, http: 415 },
    { name: "38: gRPC of XML", headers: { "content-type": "application/grpc+xml" }, http: 415 },
    { name: "GET", headers: { ":method": "GET" }, http: 405 },
    { name: "OPTIONS", headers: { ":method": "OPTIONS" }, http: 405 },
  ] as readonly { name: string; headers: OutgoingHttpHeaders; http: number }[])(
    "$name",
    async ({ headers, http }) => {
      const body = headers[":method"] === "GET" ? new Uint8Array() : frame(hello);
      expect(await rawCall(session, ECHO, headers, body)).toMatchObject({ httpStatus: http });
    },
  );

  // These statuses are of grpc-js itself, so without details; who watches the call sees our terms.
  test.each<Refused>([
    {
      name: "39: a frame that promises more than the limit",
      body: frame(new Uint8Array(), 0, MAX + 1),
      status: 8,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "39: a frame that promises 4 GiB",
      body: frame(new Uint8Array(8), 0, 0xffff_ffff),
      status: 8,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "39: a message over the limit",
      body: frame(new Uint8Array(MAX + 1)),
      status: 8,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "a compressed message that is none",
      encoding: "gzip",
      body: frame(hello, 1),
      status: 3,
      code: "INVALID_ARGUMENT",
    },
    {
      name: "a message that says it is compressed, without an encoding",
      body: frame(hello, 1),
      status: 13,
      code: "INVALID_ARGUMENT",
    },
    {
      name: "a decompression bomb, gzip",
      encoding: "gzip",
      body: frame(gzipSync(bomb), 1),
      status: 8,
      code: "PAYLOAD_TOO_LARGE",
    },
    {
      name: "a decompression bomb, deflate, in a stream",
      path: COLLECT,
      encoding: "deflate",
      body: frame(deflateSync(bomb), 1),
      status: 8,
      code: "PAYLOAD_TOO_LARGE",
    },
  ])("$name", async ({ path, encoding = "identity", body, status, code }) => {
    ended.length = 0;
    const answer = await rawCall(session, path ?? ECHO, { "grpc-encoding": encoding }, body);
    expect(answer).toMatchObject({ httpStatus: 200, grpcStatus: status });
    expect(answer.streamError).toBeUndefined();
    await expect.poll(() => ended, { message: "the call ends with its code" }).toEqual([code]);
  });

  test("37: a :path without a slash", async () => {
    const own = rawSession(echo.port);
    const answer = await rawCall(own, "fixture.v1.EchoService/Echo", {}, frame(hello));
    expect(answer.grpcStatus).toBeUndefined();
    expect(answer.streamError).toMatch(/PROTOCOL_ERROR/);
    own.destroy();
  });

  test("the body of a refused caller is not read", async () => {
    deny = true;
    const answer = await rawCall(session, ECHO, {}, frame(Buffer.from("no protobuf at all"), 9));
    deny = false;
    expect(answer).toMatchObject({ grpcStatus: 16, reason: "UNAUTHORIZED" });
  });
});

describe("11: the metadata that the chain gets", () => {
  test.each([
    {
      name: "a duplicate is two values",
      sent: { "x-svc-user-id": ["alice", "admin"] },
      header: "x-svc-user-id",
      seen: ["alice", "admin"],
    },
    {
      name: "what was joined before stays one value",
      sent: { "x-svc-user-id": "alice, admin" },
      header: "x-svc-user-id",
      seen: ["alice, admin"],
    },
    {
      name: "a duplicate Authorization is two values",
      sent: { authorization: ["Bearer a", "Bearer b"] },
      header: "authorization",
      seen: ["Bearer a", "Bearer b"],
    },
    {
      name: "a binary value is its base64 text",
      sent: { "x-svc-user-id-bin": Buffer.from("admin").toString("base64") },
      header: "x-svc-user-id-bin",
      seen: ["YWRtaW4="],
    },
    {
      name: "binary values that were joined are several",
      sent: { "x-svc-user-id-bin": "YWRtaW4=, YWxpY2U" },
      header: "x-svc-user-id-bin",
      seen: ["YWRtaW4=", "YWxpY2U"],
    },
    { name: "an upper-case look-up finds nothing", sent: {}, header: "TE", seen: [] },
  ])("$name", async ({ sent, header, seen }) => {
    const headers = sent as OutgoingHttpHeaders;
    // Node's client refuses to send some headers twice; a hostile one does not.
    const answer = await rawCall(lax(headers), ECHO, headers, frame(hello));
    expect(answer.grpcStatus).toBe(0);
    expect(last?.headers.all(header)).toEqual(seen);
    expect([...(last?.headers.names() ?? [])].includes(header)).toBe(seen.length > 0);
  });

  test("an internal name of the server is only metadata if a client sends it", async () => {
    const calls = Array.from({ length: 20 }, (_, key) =>
      rawCall(session, ECHO, { "svc-access-arrival": String(key) }, frame(hello)),
    );
    for (const answer of await Promise.all(calls)) {
      expect(answer.grpcStatus).toBe(0);
      expect(fromBinary(EchoResponseSchema, answer.body.subarray(5)).text).toBe("hello");
    }
    expect(last?.headers.all("svc-access-arrival")).toEqual(["19"]);
  });

  test("characters that are not ASCII are kept", async () => {
    const answer = await rawCall(session, ECHO, { "x-svc-user-id": "\u00e4" }, frame(hello));
    expect(answer.grpcStatus).toBe(0);
    expect(last?.headers.all("x-svc-user-id")[0]).toMatch(/[^ -~]/);
  });

  test("pseudo-headers are not headers, but the host is", async () => {
    await rawCall(session, ECHO, {}, frame(hello));
    expect([...(last as Call).headers.names()].filter((name) => name.startsWith(":"))).toEqual([]);
    expect(last?.headers.all("host")).toEqual([`127.0.0.1:${echo.port}`]);
  });
});

describe("accepts", () => {
  test.each([
    { name: "the longest timeout", headers: { "grpc-timeout": "99999999H" } },
    { name: "a codec in the content type", headers: { "content-type": "application/grpc+proto" } },
    { name: "a parameter", headers: { "content-type": "application/grpc;charset=utf-8" } },
    { name: "identity", headers: { "grpc-encoding": "identity" } },
  ])("$name", async ({ headers }) => {
    expect(await rawCall(session, ECHO, headers, frame(hello))).toMatchObject({ grpcStatus: 0 });
  });

  test.each([
    { encoding: "gzip", data: gzipSync(hello) },
    { encoding: "deflate", data: deflateSync(hello) },
  ])("a request compressed by $encoding", async ({ encoding, data }) => {
    const headers = { "grpc-encoding": encoding };
    const answer = await rawCall(session, ECHO, headers, frame(data, 1));
    expect(fromBinary(EchoResponseSchema, answer.body.subarray(5)).text).toBe("hello");
  });

  test("a message byte by byte", async () => {
    const bytes = frame(hello);
    const stream = session.request({
      ":method": "POST",
      ":path": ECHO,
      "content-type": "application/grpc",
    });
    const status = new Promise((resolve) =>
      stream.on("trailers", (trailers) => resolve(trailers["grpc-status"])),
    );
    for (const byte of bytes) {
      stream.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    stream.end().resume();
    expect(await status).toBe("0");
  });
});

/** A connection of a client that sends single-value headers twice. */
function lax(headers: OutgoingHttpHeaders): ClientHttp2Session {
  if (!Array.isArray(headers["authorization"])) return session;
  const options = { strictSingleValueFields: false };
  const own = connect(`http://127.0.0.1:${echo.port}`, options as ClientSessionOptions);
  own.unref();
  return own;
}
