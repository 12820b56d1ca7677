/** Invalid requests of Connect and gRPC-Web. */
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { requestBudget } from "../../../src/runtime/wire/message-budget.ts";
import { EchoRequestSchema } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { frame } from "../grpc/support/raw-call.ts";
import { sendRaw } from "../http/support.ts";
import { startWebServer, type WebServer } from "./support/web-server.ts";

const MAX_BYTES = 64 * 1024;
const ECHO = "/fixture.v1.EchoService/Echo";
const EXPAND = "/fixture.v1.EchoService/Expand";

let server: WebServer;
const budget = requestBudget();
beforeAll(async () => {
  server = await startWebServer({ maxBytes: MAX_BYTES, budget });
});
// Whatever the outcome of a call, it holds no memory any more.
afterEach(() =>
  expect
    .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
    .toBe(0),
);
afterAll(() => server.close());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

function send(
  path: string,
  headers: Headers,
  body: string | Uint8Array = "",
  method = "POST",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: "127.0.0.1", port: server.port, path, method, headers: { ...headers } as never },
      (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, body: Buffer.concat(pieces) });
        });
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}

const proto = { "content-type": "application/proto" };
const json = { "content-type": "application/json", "connect-protocol-version": "1" };
const stream = { "content-type": "application/connect+proto" };
const jsonStream = { "content-type": "application/connect+json" };
const web = { "content-type": "application/grpc-web+proto" };
const text = { "content-type": "application/grpc-web-text" };

const bytesOf = (text: string) =>
  toBinary(EchoRequestSchema, create(EchoRequestSchema, { text, count: 1 }));
const ZEROS = Buffer.alloc(8 * 1024 * 1024);

describe("unary Connect refuses", () => {
  it.each<
    [name: string, headers: Headers, body: string | Uint8Array, status: number, code: string]
  >([
    ["another version", { ...proto, "connect-protocol-version": "2" }, "", 400, "invalid_argument"],
    [
      "another version, in JSON",
      { ...json, "connect-protocol-version": "v1" },
      "{}",
      400,
      "invalid_argument",
    ],
    [
      "two versions",
      { ...json, "connect-protocol-version": ["1", "1"] },
      "{}",
      400,
      "invalid_argument",
    ],
    ["invalid JSON", json, "{", 400, "invalid_argument"],
    ["an empty body for JSON", json, "", 400, "invalid_argument"],
    ["an unknown field in JSON", json, '{"no":1}', 400, "invalid_argument"],
    ["invalid protobuf", proto, Buffer.from([0xff, 0xff]), 400, "invalid_argument"],
    ["half a message", proto, bytesOf("hello").subarray(0, 4), 400, "invalid_argument"],
    ["a negative timeout", { ...proto, "connect-timeout-ms": "-1" }, "", 400, "invalid_argument"],
    [
      "a timeout of eleven digits",
      { ...proto, "connect-timeout-ms": "10000000000" },
      "",
      400,
      "invalid_argument",
    ],
    ["two timeouts", { ...proto, "connect-timeout-ms": ["1", "2"] }, "", 400, "invalid_argument"],
    ["a timeout of 0", { ...proto, "connect-timeout-ms": "0" }, "", 504, "deadline_exceeded"],
    ["an unknown compression", { ...proto, "content-encoding": "br" }, "x", 501, "unimplemented"],
    ["two compressions", { ...proto, "content-encoding": "gzip, gzip" }, "x", 501, "unimplemented"],
    [
      "an uncompressed message",
      { ...proto, "content-encoding": "gzip" },
      "plain",
      400,
      "invalid_argument",
    ],
    [
      "a bomb",
      { ...proto, "content-encoding": "gzip" },
      gzipSync(ZEROS),
      429,
      "resource_exhausted",
    ],
    [
      "a body that is too large",
      proto,
      ZEROS.subarray(0, MAX_BYTES + 1),
      429,
      "resource_exhausted",
    ],
  ])("%s", async (_name, headers, body, status, code) => {
    const answer = await send(ECHO, headers, body);
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers["x-request-id"]).toBeTruthy();
    if (status === 501) expect(answer.headers["accept-encoding"]).toBe("identity,gzip,deflate");
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      code,
      message: expect.any(String),
      details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "echo" } }],
    });
  });

  it.each<[name: string, method: string, path: string, headers: Headers, status: number]>([
    ["a form", "POST", ECHO, { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["text", "POST", ECHO, { "content-type": "text/plain" }, 415],
    [
      "text that declares itself JSON",
      "POST",
      ECHO,
      { "content-type": "text/plain; application/json" },
      415,
    ],
    ["no type", "POST", ECHO, {}, 415],
    [
      "another charset",
      "POST",
      ECHO,
      { ...json, "content-type": "application/json; charset=latin1" },
      415,
    ],
    ["gRPC", "POST", ECHO, { "content-type": "application/grpc" }, 415],
    ["the type of streams", "POST", ECHO, stream, 415],
    ["the type of one message, for a stream", "POST", EXPAND, json, 415],
    ["PUT", "PUT", ECHO, json, 405],
    [
      "GET, for an RPC that may change something",
      "GET",
      `${ECHO}?connect=v1&encoding=json&message={}`,
      {},
      405,
    ],
    ["another RPC", "POST", "/fixture.v1.EchoService/None", json, 404],
    ["a path in another case", "POST", ECHO.toLowerCase(), json, 404],
    ["a path after the RPC's", "POST", `${ECHO}/x`, json, 404],
  ])("%s", async (_name, method, path, headers, status) => {
    server.unrouted.length = 0;
    const answer = await send(path, headers, "", method);
    expect(answer.status).toBe(status);
    // Not JSON, which Connect uses for its own errors.

    expect(answer.headers["content-type"]).toMatch(/^text\/plain/);
    if (status === 405) expect(answer.headers["allow"]).toBe("POST, OPTIONS");
    expect(server.unrouted).toMatchObject([{ status }]);
  });

  it.each([
    ["JSON", ECHO, "application/json"],
    ["JSON with a charset", ECHO, "application/json; charset=utf-8"],
    ["JSON, for a stream", EXPAND, "application/json"],
  ])("%s without the header of Connect, where no route has the path", async (_name, path, type) => {
    server.unrouted.length = 0;
    const answer = await send(path, { "content-type": type }, "{}");
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    // The request is for a route, so the error has the form of routes.
    expect(JSON.parse(answer.body.toString())).toEqual({
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "no route has this path; Connect needs the header Connect-Protocol-Version: 1",
      request_id: answer.headers["x-request-id"],
    });
    expect(server.unrouted).toMatchObject([{ status: 415 }]);
  });
});

/** The content of the last envelope of a body. */
function endOf(body: Buffer, flags: number): string {
  let last = "";
  for (let at = 0; at < body.length; ) {
    const length = body.readUInt32BE(at + 1);
    if (body[at] === flags) last = body.toString("utf8", at + 5, at + 5 + length);
    at += 5 + length;
  }
  return last;
}

const BAD_STREAMS: [name: string, headers: Headers, body: Uint8Array, code: number][] = [
  ["half a prefix", {}, Buffer.from([0, 0]), 3],
  ["half a message", {}, frame(bytesOf("hello")).subarray(0, 8), 3],
  ["no message", {}, Buffer.alloc(0), 12],
  ["two messages for one", {}, Buffer.concat([frame(bytesOf("a")), frame(bytesOf("b"))]), 12],
  ["unknown flags", {}, frame(bytesOf("a"), 4), 3],
  ["the flag of an end", {}, frame(Buffer.from("{}"), 2), 3],
  ["the flag of trailers", {}, frame(Buffer.alloc(0), 128), 3],
  ["no message in an envelope", {}, frame(Buffer.from([0xff, 0xff])), 3],
  ["a message that is too large", {}, frame(ZEROS.subarray(0, MAX_BYTES + 1)), 8],
  ["a length that is too large", {}, frame(bytesOf("a"), 0, 0xffffffff), 8],
  ["a compressed message without an encoding", {}, frame(gzipSync(bytesOf("a")), 1), 13],
  ["a bomb", { encoding: "gzip" }, frame(gzipSync(ZEROS), 1), 8],
  ["an uncompressed message", { encoding: "gzip" }, frame(bytesOf("hello"), 1), 3],
  ["an unknown compression", { encoding: "br" }, frame(bytesOf("a"), 1), 12],
];

/** Bodies that declare compression of the whole. */
const CODED: [name: string, coding: string, body: Uint8Array][] = [
  ["a body that is compressed as a whole", "gzip", gzipSync(frame(bytesOf("a")))],
  ["an uncompressed body that declares it", "gzip", frame(bytesOf("a"))],
  ["a body that declares it twice", "identity, gzip", frame(bytesOf("a"))],
];

const NAMES: Readonly<Record<number, string>> = {
  3: "invalid_argument",
  8: "resource_exhausted",
  12: "unimplemented",
  13: "internal",
};

describe("streams of Connect refuse", () => {
  it.each(BAD_STREAMS)("%s", async (_name, { encoding }, body, code) => {
    const named = encoding === undefined ? {} : { "connect-content-encoding": encoding };
    const answer = await send(EXPAND, { ...stream, ...named }, body);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/connect+proto");
    expect(JSON.parse(endOf(answer.body, 2))).toMatchObject({ error: { code: NAMES[code] } });
  });

  it.each<[name: string, headers: Headers, body: Uint8Array]>([
    ["another version", { ...stream, "connect-protocol-version": "2" }, frame(bytesOf("a"))],
    ["an invalid timeout", { ...stream, "connect-timeout-ms": "1s" }, frame(bytesOf("a"))],
    ["invalid JSON", jsonStream, frame(Buffer.from("{"))],
  ])("%s", async (_name, headers, body) => {
    const answer = await send(EXPAND, headers, body);
    expect(answer.status).toBe(200);
    expect(JSON.parse(endOf(answer.body, 2))).toMatchObject({
      error: { code: "invalid_argument" },
    });
  });

  it.each(CODED)("%s", async (_name, coding, body) => {
    const answer = await send(EXPAND, { ...stream, "content-encoding": coding }, body);
    expect(answer.status).toBe(200);
    expect(JSON.parse(endOf(answer.body, 2))).toMatchObject({
      error: {
        code: "unimplemented",
        message: expect.stringContaining("name the encoding in connect-content-encoding"),
      },
    });
  });

  it("but accept a body with the encoding identity", async () => {
    const headers = { ...stream, "content-encoding": "Identity" };
    const answer = await send(EXPAND, headers, frame(bytesOf("a")));
    expect(JSON.parse(endOf(answer.body, 2))).toEqual({ metadata: {} });
  });
});

describe("gRPC-Web refuses", () => {
  it.each(BAD_STREAMS)("%s", async (_name, { encoding }, body, code) => {
    const named = encoding === undefined ? {} : { "grpc-encoding": encoding };
    const answer = await send(ECHO, { ...web, ...named }, body);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/grpc-web+proto");
    expect(endOf(answer.body, 128)).toContain(`grpc-status: ${code}\r\n`);
  });

  it.each(CODED)("%s", async (_name, coding, body) => {
    const answer = await send(ECHO, { ...web, "content-encoding": coding }, body);
    expect(answer.status).toBe(200);
    expect(endOf(answer.body, 128)).toContain("grpc-status: 12\r\n");
  });

  it.each<[name: string, headers: Headers, body: string]>([
    ["an invalid timeout", { ...text, "grpc-timeout": "1" }, ""],
    ["a character that is not base64", text, "AAAA*AAA"],
    ["half a group", text, `${frame(bytesOf("a")).toString("base64").slice(0, -4)}AA`],
    ["padding within a group", text, "A=AAAAAA"],
    ["the alphabet of URLs", text, "____"],
  ])("%s", async (_name, headers, body) => {
    const answer = await send(ECHO, headers, body);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/grpc-web-text+proto");
    const bytes = Buffer.from(answer.body.toString("latin1"), "base64");
    expect(endOf(bytes, 128)).toContain("grpc-status: 3\r\n");
  });
});

describe("a valid request", () => {
  it("may have base64 in parts, each with padding", async () => {
    const whole = frame(bytesOf("hello"));
    const body = [whole.subarray(0, 4), whole.subarray(4, 9), whole.subarray(9)]
      .map((part) => part.toString("base64"))
      .join("");
    const answer = await send(ECHO, text, body);
    const parts = answer.body.toString("latin1").match(/[^=]+=*/g) ?? [];
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
    expect(endOf(bytes, 128)).toContain("grpc-status: 0\r\n");
    expect(bytes.toString("latin1")).toContain("hello");
  });

  it("may have a charset, another case and a deadline", async () => {
    const headers = {
      "content-type": "Application/JSON; charset=UTF-8",
      "connect-protocol-version": "1",
      "connect-timeout-ms": "5000",
    };
    const answer = await send(ECHO, headers, '{"text":"hi"}');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ text: "hi" });
  });

  it("may use all protocols over one connection", async () => {
    const body = frame(bytesOf("hi"));
    const head = (type: string, length: number, more = "") =>
      `POST ${ECHO} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n`;
    const texts = [
      `${head("application/json", 13, "Connect-Protocol-Version: 1\r\n")}{"text":"one"}`.replace(
        "13",
        "14",
      ),
      head("application/grpc-web", body.length) + body.toString("latin1"),
      head("application/x-www-form-urlencoded", 0),
      head("application/connect+proto", 0),
      head("application/proto", 0),
      "OPTIONS /fixture.v1.EchoService/Echo HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    const answer = await sendRaw(server.port, texts.join(""));
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([200, 200, 415, 415, 200, 204]);
  });
});
