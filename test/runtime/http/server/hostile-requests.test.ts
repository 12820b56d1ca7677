import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CallObserver } from "../../../../src/runtime/chain/call-stages.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import type { Thing } from "../fixture/thing_pb.ts";
import {
  errorOf,
  get,
  httpRoute,
  openChain,
  type Running,
  rawMethod,
  readAll,
  sendRaw,
  start,
  statusOf,
  stopAll,
  thingMethod,
} from "../support.ts";

const LIMITS = {
  headersTimeoutMs: 300,
  requestTimeoutMs: 600,
  checkingIntervalMs: 50,
  lingerMs: 200,
};

let running: Running;
let served: string[] = [];

beforeAll(async () => {
  const handler = async (thing: Thing) => {
    served.push(`thing ${thing.name}`);
    return { name: thing.name };
  };
  running = await start({
    limits: LIMITS,
    chain: openChain({
      authentication(call) {
        if (call.headers.all("x-refuse").length > 0) throw new ServiceError("UNAUTHORIZED");
      },
    }),
    config: { max_body_bytes: 1_000 },
    methods: [
      thingMethod(
        "getThing",
        [httpRoute("GET /v1/things/{name}"), httpRoute("POST /v1/things", { body: "*" })],
        handler,
      ),
    ],
    rawMethods: [
      rawMethod(
        { path: "/pages", match: "prefix", methods: ["GET"], exposure: "PUBLIC" },
        (request) => {
          served.push(`page ${request.path}`);
          return { status: 200, body: "page" };
        },
      ),
    ],
    probes: [{ path: "/healthz", handle: () => ({ status: 200, body: { status: "ok" } }) }],
  });
});
afterAll(stopAll);

function post(body: string, ...headers: string[]): string {
  return ["POST /v1/things HTTP/1.1", "Host: x", ...headers, "", body].join("\r\n");
}

describe("paths (36, 37)", () => {
  it.each([
    ["36", "/v1/things/.", 400],
    ["36", "/v1/things/..", 400],
    ["36", "/v1/../pages", 400],
    ["36", "/v1/%2e%2e/pages", 400],
    ["36", "/v1/things/.%2E", 400],
    ["36", "/v1/things/..%2fx", 400],
    ["36", "/v1/things/x%2f..%2fy", 400],
    ["36", "/v1/things/x%5c..", 400],
    ["36", "/v1/things/..\\x", 400],
    ["36", "//v1/things/x", 400],
    ["36", "/v1//things/x", 400],
    ["36", "/v1/things/x//", 400],
    ["36", "/v1/things/%00", 400],
    ["36", "/v1/things/x%0d%0aSet-Cookie:%20a", 400],
    ["36", "/v1/things/%c0%ae%c0%ae", 400],
    ["36", "/v1/things/%ed%a0%80", 400],
    ["36", "/v1/things/%", 400],
    ["36", "/v1/things/%2", 400],
    ["36", "/v1/things/%C2%85", 400],
    ["36", "/v1/things/x#y", 400],
    ["36", `/v1/things/${"x".repeat(5_000)}`, 400],
    ["36", "/v1/things/x/", 404],
    ["36", "/v1/things;x/y", 404],
    ["36", "/v1/%74hings/x", 404],
    ["36", "/V1/things/x", 404],
    ["36", "/healthz/", 404],
    ["36", "/healthz;x", 404],
    ["37", "v1/things/x", 400],
    ["37", "http://other/v1/things/x", 400],
    ["37", "*", 400],
  ])("%s: GET %s is %i", async (_number, target, status) => {
    served = [];
    const response = await sendRaw(running.port, get(target));
    expect(statusOf(response)).toBe(status);
    expect(errorOf(response)).toMatchObject({ status, request_id: expect.any(String) });
    expect(served).toEqual([]);
  });

  it.each([
    ["36", "/v1/things/x;y", "thing x;y"],
    ["36", "/v1/things/..;", "thing ..;"],
    ["36", "/v1/things/%252e%252e", "thing %2e%2e"],
    ["36", "/v1/things/x%2Fy", "thing x/y"],
    ["36", "/pages/a%2Fb", "page /pages/a%2Fb"],
  ])("%s: GET %s is taken to the letter", async (_number, target, expected) => {
    served = [];
    expect(statusOf(await sendRaw(running.port, get(target)))).toBe(200);
    expect(served).toEqual([expected]);
  });

  it("12: no header changes the choice of a route", async () => {
    served = [];
    const headers = ["X-Forwarded-Uri", "X-Envoy-Original-Path", "X-Original-URL", "X-Rewrite-URL"];
    const request = get("/v1/things/x", ...headers.map((name) => `${name}: /healthz`));
    expect(statusOf(await sendRaw(running.port, request))).toBe(200);
    expect(served).toEqual(["thing x"]);
  });
});

describe("bodies (38)", () => {
  const LENGTH = "Content-Length: 2";
  it.each([
    [["Content-Type: text/plain"]],
    [["Content-Type: application/x-www-form-urlencoded"]],
    [["Content-Type: application/jsonp"]],
    [["Content-Type: application/json, text/plain"]],
    [["Content-Type: application/json; charset=utf-16"]],
    [["Content-Type: application/json; charset=utf-8; charset=utf-16"]],
    [["Content-Type: application/json; charset"]],
    [["Content-Type: application/json; charset=;"]],
    [["Content-Type: application/json; a=b charset=utf-8"]],
    [['Content-Type: application/json; a="b; charset=utf-8']],
    [['Content-Type: application/json; a="\\"; charset=utf-8"; charset=latin1']],
    [[`Content-Type: application/json${";  ".repeat(3000)}x`]],
    [["Content-Type: ;;;"]],
    [["Content-Type:"]],
    [["Content-Type: application/json", "Content-Type: application/json"]],
    [["Content-Type: application/json", "Content-Encoding: gzip"]],
    [[]],
  ])("38: %j is 415", async (headers) => {
    const response = await sendRaw(running.port, post("{}", LENGTH, ...headers));
    expect(errorOf(response)).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it.each([
    [["Content-Type: application/json"]],
    [["Content-Type: Application/JSON; Charset=UTF-8"]],
    [['Content-Type: application/json;charset="utf-8"', "Content-Encoding: identity"]],
    [["Content-Type: application/json; charset=utf8", "Content-Encoding:"]],
    [["Content-Type: application/json;"]],
    [["Content-Type: application/json; odata=verbose; charset=utf-8 ;"]],
    [['Content-Type: application/json; profile="a; charset=latin1"']],
  ])("38: %j is taken", async (headers) => {
    expect(statusOf(await sendRaw(running.port, post("{}", LENGTH, ...headers)))).toBe(200);
  });

  it("refuses a body by its announced length, before it arrives", async () => {
    const headers = ["Content-Type: application/json", "Content-Length: 1001"];
    const response = await sendRaw(running.port, post("", ...headers));
    expect(errorOf(response)).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  it("refuses a chunked body once it is too large, and ends the connection", async () => {
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    const chunk = `400\r\n${" ".repeat(1024)}\r\n`;
    const response = await sendRaw(running.port, post(chunk, ...headers), 400);
    expect(errorOf(response)).toMatchObject({ status: 413 });
    expect(response).toContain("Connection: close");
  });

  it("does not read the body of a caller that is refused, and does not hang", async () => {
    const headers = ["Content-Type: application/json", "Content-Length: 100000", "X-Refuse: 1"];
    const response = await sendRaw(running.port, post("{", ...headers), 400);
    expect(errorOf(response)).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
    expect(response).toContain("WWW-Authenticate: Bearer");
    expect(response).toContain("Connection: close");
  });

  it("requests a body only if it is needed (Expect: 100-continue)", async () => {
    const headers = ["Content-Type: application/json", "Content-Length: 2", "Expect: 100-continue"];
    const refused = await sendRaw(running.port, post("", ...headers, "X-Refuse: 1"));
    expect(statusOf(refused)).toBe(401);
    const asked = await sendRaw(running.port, post("", ...headers));
    expect(asked).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  });

  it("ends a request whose body stops arriving", async () => {
    const headers = ["Content-Type: application/json", "Content-Length: 20"];
    const response = await sendRaw(running.port, post("{", ...headers), 1_500);
    expect(errorOf(response)).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT" });
  });
});

describe("the transport (40)", () => {
  it.each([
    ["two lengths", ["Content-Length: 2", "Content-Length: 3"]],
    ["a length and chunks", ["Content-Length: 2", "Transfer-Encoding: chunked"]],
    ["a length that is not a number", ["Content-Length: +2"]],
    ["a header name with a space", ["Content-Length : 2"]],
    ["a folded header", ["X-A: 1", " folded"]],
  ])("40: %s is 400 in the error form, and the connection ends", async (_name, headers) => {
    const response = await sendRaw(running.port, post("{}", ...headers));
    expect(errorOf(response)).toMatchObject({ status: 400, code: "INVALID_ARGUMENT" });
    expect(response).toContain("Connection: close");
  });

  it.each([
    ["xchunked", "HTTP/1.1"],
    ["gzip, chunked", "HTTP/1.1"],
    ["chunked", "HTTP/1.0"],
  ])(
    "40: Transfer-Encoding %s in %s is 400, once, and the connection ends",
    async (encoding, version) => {
      const head = [`POST /v1/things ${version}`, "Host: x", `Transfer-Encoding: ${encoding}`];
      const body = "2\r\n{}\r\n0\r\n\r\n";
      const response = await sendRaw(running.port, [...head, "", body].join("\r\n"));
      expect(errorOf(response)).toMatchObject({ status: 400, code: "INVALID_ARGUMENT" });
      expect(response).toContain("Connection: close");
    },
  );

  it("40: a refused request gets no second response for the bytes after it", async () => {
    const head = ["POST /nope HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "", "zz\r\n"];
    const response = await sendRaw(running.port, head.join("\r\n"), 400);
    expect(errorOf(response)).toMatchObject({ status: 404 });
  });

  it("40: a line that is not a request is 400", async () => {
    const response = await sendRaw(running.port, "junk\r\n\r\n");
    expect(errorOf(response)).toMatchObject({ status: 400, message: "the request is malformed" });
  });

  it("40: a malformed HEAD is 400 without a body", async () => {
    const response = await sendRaw(running.port, "HEAD []x HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(response).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n\r\n$/);
  });

  it("40: too many headers are 431, and none is dropped", async () => {
    const headers = Array.from({ length: 200 }, (_, index) => `X-${index}: 1`);
    const response = await sendRaw(running.port, get("/v1/things/x", ...headers));
    expect(errorOf(response)).toMatchObject({ status: 431, code: "REQUEST_HEADERS_TOO_LARGE" });
  });

  it("40: headers that are too large are 431", async () => {
    const response = await sendRaw(running.port, get("/v1/things/x", `X-A: ${"a".repeat(20_000)}`));
    expect(errorOf(response)).toMatchObject({ status: 431, code: "REQUEST_HEADERS_TOO_LARGE" });
  });

  it("40: slow headers are 408 (slowloris)", async () => {
    const socket = connect(running.port, "127.0.0.1");
    socket.write("GET /v1/things/x HTTP/1.1\r\nHost: x\r\n");
    const drip = setInterval(() => socket.write("X-A: 1\r\n"), 50);
    const response = await readAll(socket, 1_500);
    clearInterval(drip);
    expect(errorOf(response)).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT" });
  });

  it("logs the address of a client that closes the connection within a request", async () => {
    const { port, unrouted } = await start({});
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: al", () => socket.destroy());
    await vi.waitFor(() => expect(unrouted).toHaveLength(1));
    expect(unrouted[0]).toMatchObject({ status: 400, peer: { address: "127.0.0.1" } });
  });

  it.each([
    ["that ends too early", "Content-Length: 20", "{"],
    ["with a malformed chunk", "Transfer-Encoding: chunked", "1\r\n{\r\nx\r\n"],
  ])(
    "counts a call with a body %s once, with its id and the error that its client gets",
    async (_, length, body) => {
      const ended: (readonly [requestId: string, code: string | undefined])[] = [];
      const end: CallObserver["end"] = ({ requestId }, error) =>
        ended.push([requestId, error?.code]);
      const { port, unrouted } = await start({
        chain: openChain({ observers: [{ end }] }),
        methods: [
          thingMethod("getThing", [httpRoute("POST /v1/things", { body: "*" })], () => ({})),
        ],
      });
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      const head = [
        "POST /v1/things HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        length,
      ];
      socket.end([...head, "X-Request-ID: broken-off", "", body].join("\r\n"));
      const response = await readAll(socket);
      expect(errorOf(response)).toMatchObject({ status: 400, request_id: "broken-off" });
      await vi.waitFor(() => expect(ended).toHaveLength(1));
      expect(ended).toEqual([["broken-off", "INVALID_ARGUMENT"]]);
      expect(unrouted).toEqual([]);
    },
  );

  it("is not a proxy: CONNECT gets no response, TRACE 405", async () => {
    expect(await sendRaw(running.port, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")).toBe("");
    const trace = await sendRaw(running.port, "TRACE /v1/things/x HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(statusOf(trace)).toBe(405);
  });
});
