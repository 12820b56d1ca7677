import type { ClientHttp2Session } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallContext } from "../../../src/runtime/call/call-context.ts";
import {
  ServiceError,
  type ServiceErrorOptions,
  type StatusDetail,
} from "../../../src/runtime/error/service-error.ts";
import { decodeStatusDetails } from "../../../src/runtime/error/status-details.ts";
import { type EchoRequest, EchoRequestSchema } from "./fixture/gen/fixture/v1/fixture_pb.ts";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const ECHO = "/fixture.v1.EchoService/Echo";
let echo: EchoServer;
let session: ClientHttp2Session;
let behave: (context: CallContext) => unknown;
const logged: object[] = [];
/** How calls ended for those who watch them. */
const ended: object[] = [];

beforeAll(async () => {
  const log = (fields: object) => logged.push(fields);
  echo = await startEchoServer({
    config: { max_message_bytes: 64 * 1024 },
    handlers: { echo: async (_request: EchoRequest, context: CallContext) => behave(context) },
    chain: {
      observers: [
        {
          end: ({ responseBytes }, error) =>
            void ended.push({ code: error?.code, bytes: responseBytes }),
        },
      ],
    },
    options: { logger: { debug: log, info: log, warn: log, error: log } },
  });
  session = rawSession(echo.port);
});
afterAll(async () => {
  session.destroy();
  await echo.close();
});

const call = (headers = {}) =>
  rawCall(session, ECHO, headers, frame(toBinary(EchoRequestSchema, create(EchoRequestSchema))));

interface Thrown {
  readonly name: string;
  readonly error: unknown;
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly metadata?: Record<string, string>;
  readonly retryAfter?: number;
}

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

test.each<Thrown>([
  {
    name: "any error is INTERNAL without detail",
    error: new Error("password=hunter2"),
    status: 13,
    reason: "INTERNAL",
    message: "internal error",
  },
  {
    name: "so is what is not an error",
    error: "secret",
    status: 13,
    reason: "INTERNAL",
    message: "internal error",
  },
  {
    name: "INTERNAL never shows its message, whoever throws it",
    error: new ServiceError("INTERNAL", "at db:5432", { details: { dsn: "x" } }),
    status: 13,
    reason: "INTERNAL",
    message: "internal error",
  },
  {
    name: "rate limits say when",
    error: new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 1.5 }),
    status: 8,
    reason: "RATE_LIMITED",
    message: "rate limited",
    retryAfter: 1.5,
  },
  {
    name: "a code of the service's own, with details",
    error: ServiceError.of(409, "SKILL_PUBLISHED", "it is", {
      details: { id: "s1", n: 2, a: ["x"] },
    }),
    status: 6,
    reason: "SKILL_PUBLISHED",
    message: "it is",
    metadata: { id: "s1", n: "2", a: '["x"]' },
  },
  {
    name: "details that no text holds are left out",
    error: new ServiceError("FORBIDDEN", "x", { details: { cyclic, f: () => 1, u: undefined } }),
    status: 7,
    reason: "FORBIDDEN",
    message: "x",
  },
  {
    name: "42: line ends, percent signs, other scripts, half a surrogate",
    error: new ServiceError("FORBIDDEN", "a\r\nb 100% ü 漢 \u{1f600} \ud800"),
    status: 7,
    reason: "FORBIDDEN",
    message: "a\r\nb 100% ü 漢 \u{1f600} \ufffd",
  },
  {
    name: "a message too long for trailers is cut",
    error: new ServiceError("FORBIDDEN", "x".repeat(100_000)),
    status: 7,
    reason: "FORBIDDEN",
    message: "x".repeat(1024),
  },
  {
    name: "details too large for trailers are left out, the code is not",
    error: new ServiceError("FORBIDDEN", "x", { details: { text: "x".repeat(100_000) } }),
    status: 7,
    reason: "FORBIDDEN",
    message: "x",
  },
])("$name", async ({ error, status, reason, message, metadata, retryAfter }) => {
  behave = () => {
    throw error;
  };
  const answer = await call({ "x-request-id": "r-1" });
  expect(answer).toMatchObject({ grpcStatus: status, reason, message });
  expect(answer.headers["x-request-id"]).toBe("r-1");
  expect(JSON.stringify(answer)).not.toMatch(/hunter2|5432|secret/);
  const bytes = Buffer.from(String(answer.headers["grpc-status-details-bin"]), "base64");
  const details = decodeStatusDetails(bytes);
  expect({ ...details?.metadata }).toEqual(metadata ?? {});
  expect(details?.retryAfterSeconds).toBe(retryAfter);
  expect(bytes.includes("type.googleapis.com/google.rpc.ErrorInfo")).toBe(true);
  expect(bytes.includes("echo")).toBe(true);
});

test.each([
  { name: "no message", response: undefined },
  { name: "a wrong field", response: { count: 1.5 } },
])("a handler that returns $name", async ({ response }) => {
  behave = () => response;
  expect(await call()).toMatchObject({ grpcStatus: 13, message: "internal error" });
});

describe("the details of an error", () => {
  const detail = { typeUrl: "type.googleapis.com/a.v1.B", value: new Uint8Array([10, 1, 97]) };
  const thrown = (options: ServiceErrorOptions) => async () => {
    behave = () => {
      throw ServiceError.of(409, "OWN", "own", options);
    };
    const { headers } = await call();
    const bytes = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
    return decodeStatusDetails(bytes);
  };

  test.each<[string, StatusDetail[]]>([
    ["none", []],
    ["one", [detail]],
    ["several", [detail, { ...detail, typeUrl: "b" }]],
  ])("stand instead of the ErrorInfo: %s", async (_name, statusDetails) => {
    const read = await thrown({ statusDetails, retryAfterSeconds: 1, details: { id: "1" } })();
    expect(read).toMatchObject({ reason: undefined, retryAfterSeconds: undefined });
    expect(read?.details).toEqual(statusDetails);
  });

  test("are omitted if they are too large for trailers", async () => {
    const large = { ...detail, value: new Uint8Array(8000) };
    expect((await thrown({ statusDetails: [large] })())?.details).toEqual([]);
  });

  test("are not passed on if another service reported them", async () => {
    const read = await thrown({ statusDetails: [detail], isRemote: true })();
    expect(read).toMatchObject({ reason: "OWN", details: [{ typeUrl: ERROR_INFO }] });
  });

  test("are not sent with INTERNAL", async () => {
    behave = () => {
      throw new ServiceError("INTERNAL", "x", { statusDetails: [detail] });
    };
    const { headers } = await call();
    const bytes = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
    expect(decodeStatusDetails(bytes)?.details).toMatchObject([{ typeUrl: ERROR_INFO }]);
  });
});

test("a server may send an empty ErrorInfo [ERR-2]", async () => {
  const silent = await startEchoServer({
    handlers: {
      echo: async () => {
        throw new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 2 });
      },
    },
    options: { service: undefined },
  });
  const other = rawSession(silent.port);
  const { headers } = await rawCall(other, ECHO);
  other.destroy();
  await silent.close();
  const bytes = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
  expect(decodeStatusDetails(bytes)).toMatchObject({
    reason: undefined,
    retryAfterSeconds: 2,
    details: [{ typeUrl: "type.googleapis.com/google.rpc.RetryInfo" }],
  });
});

test("responses may be larger than requests", async () => {
  const large = await startEchoServer({
    config: { max_message_bytes: 1024 },
    options: { maxResponseBytes: 4096 },
    handlers: { echo: async ({ count }) => ({ data: new Uint8Array(count) }) },
  });
  const other = rawSession(large.port);
  const ask = (count: number, data = 0) => {
    const request = create(EchoRequestSchema, { count, data: new Uint8Array(data) });
    return rawCall(other, ECHO, {}, frame(toBinary(EchoRequestSchema, request)));
  };
  expect((await ask(4000)).grpcStatus).toBe(0);
  expect((await ask(4097)).grpcStatus).toBe(8);
  expect((await ask(0, 1025)).grpcStatus).toBe(8);
  other.destroy();
  await large.close();
});

test("a response over the limit", async () => {
  behave = () => ({ data: new Uint8Array(65 * 1024) });
  expect(await call()).toMatchObject({ grpcStatus: 8, reason: "PAYLOAD_TOO_LARGE" });
});

test("observers of a call get the outcome of its response", async () => {
  ended.length = 0;
  behave = () => ({ count: 1.5 });
  await call();
  behave = () => ({ data: new Uint8Array(65 * 1024) });
  await call();
  behave = () => ({ text: "abc" });
  await call();
  expect(ended).toEqual([
    { code: "INTERNAL", bytes: 0 },
    { code: "PAYLOAD_TOO_LARGE", bytes: 0 },
    { code: undefined, bytes: 5 },
  ]);
});

test.each([
  ["x-name", "a\nb"],
  ["x-name", "\u00e9"],
  ["x name", "a"],
  ["", "a"],
  ["x:name", "a"],
])(
  "the header %j of the handler, with %j, is none: an error of the handler",
  async (name, value) => {
    ended.length = 0;
    behave = (context) => {
      context.setResponseHeader(name, value);
      return {};
    };
    expect(await call()).toMatchObject({ grpcStatus: 13, message: "internal error" });
    expect(ended).toEqual([{ code: "INTERNAL", bytes: 0 }]);
  },
);

test("headers of the handler are initial metadata; those of the protocol cannot be set", async () => {
  behave = (context) => {
    context.setResponseHeader("X-Page", "2");
    context.setResponseHeader("grpc-status", "0");
    context.setResponseHeader("connection", "close");
    return {};
  };
  const { headers, trailers } = await call();
  expect(headers).toMatchObject({ "x-page": "2", "x-request-id": expect.any(String) });
  expect(headers["grpc-status"]).toBeUndefined();
  expect(trailers["grpc-status"]).toBe("0");
});
