import { describe, expect, test } from "vitest";
import type { BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import type { UnroutedRequest } from "../../../../src/runtime/chain/call-stages.ts";
import type { ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { createLogger } from "../../../../src/runtime/logging/create-logger.ts";
import { AccessLog } from "../../../../src/runtime/observers/access-log/access-log.ts";
import { callOf, headersOf, linesOf, methodOf } from "../../support/sample-call.ts";

function failing(message: string): never {
  throw new Error(message);
}

function unreadable(): object {
  return new Proxy({}, { ownKeys: () => failing("no") });
}

function serviceErrorOf(code: ErrorCode, cause: unknown): ServiceError {
  return new ServiceError(code, undefined, { cause });
}

function unrouted(more: Partial<UnroutedRequest> = {}): UnroutedRequest {
  return {
    transport: "http",
    httpMethod: "GET",
    target: "/nothing?x=1",
    status: 404,
    code: "RESOURCE_NOT_FOUND",
    requestId: "req-2",
    peer: { address: "10.0.0.1", certificateNames: [] },
    ...more,
  };
}

/** The line of the request, without its outcome. */
const unroutedLine = {
  level: "info",
  time: expect.any(String),
  service: "hub",
  transport: "http",
  method: "GET",
  path: "/nothing",
  request_id: "req-2",
  client_address: "10.0.0.1",
  message: "request",
};

describe("the log", () => {
  test("has one line of JSON per message, with time, level, service and environment", () => {
    const { destination, lines, parsed } = linesOf();
    const log = createLogger({ service: "hub", environment: "test", destination });
    log.info({ routes: 3 }, "routes published");
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith("\n")).toBe(true);
    expect(parsed()[0]).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      service: "hub",
      environment: "test",
      routes: 3,
      message: "routes published",
    });
  });

  test("has no secrets in fields and messages", () => {
    const { destination, lines } = linesOf();
    const log = createLogger({ destination });
    log.warn({ deep: { list: [{ Client_Secret: "SECRET" }] } }, "at postgres://u:SECRET@db");
    log.error({ error: new Error("?token=SECRET") }, "failed");
    log.error(new Error("password=SECRET"), "failed");
    log.info({ token: "SECRET" }, "x");
    expect(lines).toHaveLength(4);
    expect(lines.join("")).not.toContain("SECRET");
  });

  test("cannot be forged by line breaks", () => {
    const { destination, lines } = linesOf();
    const log = createLogger({ destination });
    log.info(
      { agent: 'x"}\n{"level":"error","message":"forged"}', "a\nb": "c\u2028d" },
      "one\r\ntwo",
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]?.split("\n")).toHaveLength(2);
    expect(lines[0]).not.toMatch(/[\u2028\r\u001b]/);
    expect(() => JSON.parse(lines[0] as string)).not.toThrow();
  });

  test("has all levels, and can be flushed", () => {
    const { destination, parsed } = linesOf();
    let flushes = 0;
    const flushSync = () => void flushes++;
    const log = createLogger({ level: "debug", destination: { ...destination, flushSync } });
    for (const level of ["debug", "info", "warn", "error"] as const) log[level]({}, level);
    expect(parsed().map(({ level }) => level)).toEqual(["debug", "info", "warn", "error"]);
    log.flush();
    expect(flushes).toBe(1);
  });

  test.each<[string, object, object]>([
    ["an error", new TypeError("no"), { error: { type: "TypeError", message: "no" } }],
    ["a list", ["a", { token: "SECRET" }], { error: ["a", { token: "***" }] }],
    ["an unreadable value", unreadable(), { error: "[unreadable: Error]" }],
  ])("takes %s in the place of fields", (_, fields, reported) => {
    const { destination, parsed } = linesOf();
    createLogger({ destination }).error(fields, "failed");
    expect(parsed()[0]).toMatchObject({ ...reported, level: "error", message: "failed" });
  });

  test("has the given time of a line", () => {
    const { destination, parsed } = linesOf();
    const log = createLogger({ destination });
    for (const now of [1, 2, 1]) log.line("info", '"x":1', "a", now);
    expect(parsed().map(({ time }) => time.slice(-4))).toEqual(["001Z", "002Z", "001Z"]);
  });

  test("omits lines below its level", () => {
    const { destination, parsed } = linesOf();
    const log = createLogger({ level: "warn", destination });
    log.debug({}, "a");
    log.info({}, "b");
    log.line("info", '"x":1', "c");
    log.warn({}, "d");
    log.line("warn", '"x":1', "e");
    expect(parsed().map(({ message }) => message)).toEqual(["d", "e"]);
  });
});

describe("the access log", () => {
  const open = (more = {}) => {
    const { destination, lines, parsed } = linesOf();
    const log = new AccessLog(createLogger({ service: "hub", destination }), {
      enabled: true,
      skipPaths: ["/healthz"],
      slowThresholdMs: 1000,
      ...more,
    });
    return { log, lines, parsed };
  };

  test("has a line for a call, with all known values", () => {
    const { log, parsed } = open();
    const call = callOf();
    call.traceId = "0af7651916cd43dd8448eb211c80319c";
    call.spanId = "b7ad6b7169203331";
    call.clientAddress = "203.0.113.7";
    call.principal = { subjectType: "user", subjectId: "alice", source: "gateway" } as never;
    call.resource = "skill:abc";
    call.decision = "allowed";
    log.end(call, undefined);
    // The adapter sends the response when the chain has ended.
    call.responseBytes = 512;
    log.flush();
    expect(parsed()).toEqual([
      {
        level: "info",
        time: expect.any(String),
        service: "hub",
        rpc: "hub.v1.HubService/Get",
        transport: "http",
        method: "GET",
        path: "/v1/hub/get",
        status: 200,
        code: "OK",
        duration_ms: expect.any(Number),
        request_id: "req-1",
        trace_id: "0af7651916cd43dd8448eb211c80319c",
        span_id: "b7ad6b7169203331",
        subject: "user:alice",
        source: "gateway",
        client_address: "203.0.113.7",
        user_agent: "curl/8",
        response_bytes: 512,
        resource: "skill:abc",
        decision: "allowed",
        message: "call",
      },
    ]);
  });

  test("waits for a response that is still being written, but not for longer than the log", () => {
    const { log, parsed } = open();
    const [sent, unsent] = [callOf(), callOf()];
    let send: () => void = () => undefined;
    sent.whenSent = (done) => (send = done);
    unsent.whenSent = () => undefined;
    for (const call of [sent, unsent]) log.end(call, undefined);
    log.flush();
    expect(parsed()).toEqual([]);
    sent.responseBytes = 7;
    send();
    log.flush();
    expect(parsed()).toMatchObject([{ response_bytes: 7 }]);
    log.close();
    expect(parsed()).toMatchObject([{ response_bytes: 7 }, { response_bytes: 0 }]);
    send();
    log.close();
    expect(parsed()).toHaveLength(2);
  });

  test("has no member for an unknown value", () => {
    const { log, parsed } = open();
    const call = callOf({ headers: headersOf({}) });
    call.endedAt = call.startedAt + 12.3456;
    log.end(call, undefined);
    log.flush();
    expect(parsed()).toEqual([
      {
        level: "info",
        time: expect.any(String),
        service: "hub",
        rpc: "hub.v1.HubService/Get",
        transport: "http",
        method: "GET",
        path: "/v1/hub/get",
        status: 200,
        code: "OK",
        duration_ms: 12.346,
        request_id: "req-1",
        client_address: "10.0.0.1",
        response_bytes: 0,
        message: "call",
      },
    ]);
  });

  test("has a line for a request that did not become a call", () => {
    const { log, parsed } = open();
    log.request(unrouted({ code: undefined, status: 204 }));
    log.request(unrouted({ httpMethod: "" }));
    expect(parsed()).toEqual([
      { ...unroutedLine, status: 204, code: "OK" },
      { ...unroutedLine, method: "", status: 404, code: "RESOURCE_NOT_FOUND" },
    ]);
  });

  test.each([
    ["of a skipped path", {}, "/healthz?x=1"],
    ["if the log is off", { enabled: false }, "/x"],
  ])("has none for such a request %s [OBS-3]", (_, options, target) => {
    const { log, lines } = open(options);
    log.request(unrouted({ target }));
    expect(lines).toEqual([]);
  });

  test("has one line per call", () => {
    const { log, lines } = open();
    for (let count = 0; count < 3; count++) {
      log.end(callOf(), undefined);
      log.flush();
    }
    expect(lines).toHaveLength(3);
  });

  test("continues after a call that cannot be logged, and logs the reason without secrets", () => {
    const { log, lines, parsed } = open();
    const broken = callOf({
      headers: { all: () => failing("password=SECRET"), names: () => [] },
    });
    log.end(broken, undefined);
    log.end(callOf(), undefined);
    log.flush();
    expect(parsed()).toMatchObject([
      { level: "error", message: "a call cannot be logged", error: { message: "password=***" } },
      { level: "info", message: "call" },
    ]);
    expect(lines.join("")).not.toContain("SECRET");
  });

  test.each([
    ["http", 1],
    ["grpc", 2],
  ] as const)(
    "over %s, is flushed %i turns of the event loop after the call",
    async (transport, turns) => {
      const { log, lines } = open();
      log.end(callOf({ transport }), undefined);
      // The adapter sends the response when the promises of the call are settled.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      for (let turn = 0; turn < turns; turn++) {
        expect(lines).toEqual([]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(lines).toHaveLength(1);
    },
  );

  test("has the gRPC status over gRPC", () => {
    const { log, parsed } = open();
    log.end(callOf({ transport: "grpc" }), new ServiceError("FORBIDDEN"));
    log.flush();
    expect(parsed()[0]).toMatchObject({ grpc_status: 7, code: "FORBIDDEN", level: "info" });
    expect(parsed()[0]).not.toHaveProperty("path");
    expect(parsed()[0]).not.toHaveProperty("status");
  });

  test("over gRPC has 0 for success, and skips no call by its path", () => {
    const { log, parsed } = open();
    log.end(callOf({ transport: "grpc", target: "/healthz" }), undefined);
    log.flush();
    expect(parsed()).toMatchObject([{ transport: "grpc", grpc_status: 0, code: "OK" }]);
  });

  test.each<[number, BoundMethod["kind"], boolean]>([
    [999, "unary", false],
    [1001, "unary", true],
    [1001, "raw", true],
    [1001, "server_streaming", false],
    [1001, "client_streaming", false],
    [1001, "bidi_streaming", false],
  ])("of a call of %d ms, %s, says that it was slow: %s [OBS-3]", (durationMs, kind, isSlow) => {
    const { log, parsed } = open();
    const call = callOf({ method: methodOf({ kind }) });
    call.endedAt = call.startedAt + durationMs;
    log.end(call, undefined);
    log.flush();
    const line = parsed()[0];
    expect([line.level, line.slow]).toEqual(isSlow ? ["warn", true] : ["info", undefined]);
  });

  test("has the cause of an internal error, without secrets, even if other lines are off", () => {
    const cause = new Error("query failed: password=SECRET");
    for (const enabled of [true, false]) {
      const { log, lines, parsed } = open({ enabled });
      log.end(callOf(), new ServiceError("INTERNAL", undefined, { cause }));
      log.end(callOf(), undefined);
      log.flush();
      expect(parsed()[0]).toMatchObject({
        level: "error",
        code: "INTERNAL",
        error: { message: "query failed: password=***", stack: expect.stringContaining("at ") },
      });
      expect(lines).toHaveLength(enabled ? 2 : 1);
      expect(lines.join()).not.toContain("SECRET");
    }
  });

  test("has an internal error without a cause", () => {
    const { log, parsed } = open();
    log.end(callOf({ target: "/healthz" }), new ServiceError("INTERNAL", "said to nobody"));
    log.flush();
    expect(parsed()[0]).toMatchObject({
      level: "error",
      message: "call",
      error: { type: "ServiceError", stack: expect.any(String) },
    });
  });

  test.each<[string, ServiceError, string, unknown]>([
    [
      "a custom 500, and its cause",
      ServiceError.of(500, "ODD", "x", { cause: "password=SECRET" }),
      "warn",
      "password=***",
    ],
    ["503 with a null cause", serviceErrorOf("UNAVAILABLE", null), "warn", null],
    ["503 without a cause", new ServiceError("UNAVAILABLE"), "info", undefined],
    ["a refusal, whose cause is the caller", serviceErrorOf("FORBIDDEN", "x"), "info", undefined],
  ])("has of %s", (_, error, level, reported) => {
    const { log, parsed } = open();
    log.end(callOf(), error);
    log.flush();
    const line = parsed()[0];
    expect([line.level, line.error]).toEqual([level, reported]);
  });

  test("warns about an unavailable dependency", () => {
    const { log, parsed } = open();
    const error = new ServiceError("UNAVAILABLE", undefined, { cause: new Error("no etcd") });
    log.end(callOf(), error);
    log.flush();
    expect(parsed()[0]).toMatchObject({
      level: "warn",
      status: 503,
      error: { message: "no etcd" },
    });
    expect(parsed()[0].error).not.toHaveProperty("stack");
  });

  test.each([
    ["/healthz", true],
    ["/healthz?x=1", true],
    ["/healthz/", false],
    ["//healthz", false],
    ["/v1/x?p=/healthz", false],
  ])("of %s is skipped: %s, whatever headers say", (target, skipped) => {
    const { log, lines } = open();
    const headers = headersOf({
      "x-forwarded-uri": "/healthz",
      "x-envoy-original-path": "/healthz",
    });
    log.end(callOf({ target, headers }), undefined);
    log.flush();
    expect(lines).toHaveLength(skipped ? 0 : 1);
  });

  test("is one line whatever a caller sends, without secrets of the path", () => {
    const { log, lines, parsed } = open();
    const agent = `x\r\n{"level":"error"}\u001b[2J\u2028"\\ ${"y".repeat(5000)}`;
    const call = callOf({
      target: '/v1/"\u001b[31m\n/;token=SECRET/x?password=SECRET',
      headers: headersOf({ "user-agent": agent }),
    });
    call.principal = { subjectType: "user", subjectId: 'a"\n\u202e', source: "jwt" } as never;
    log.end(call, ServiceError.of(409, 'SKILL"\n', "x"));
    log.request({
      transport: "http",
      httpMethod: "G\nT",
      target: `/${"z".repeat(9000)}\u001b?secret=SECRET`,
      requestId: "r",
      peer: { address: "10.0.0.1", certificateNames: [] },
      status: 404,
      code: "RESOURCE_NOT_FOUND",
    });
    log.flush();
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line.length).toBeLessThan(2000);
      expect(line.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]|SECRET/);
    }
    expect(parsed()[0]).toMatchObject({
      message: "request",
      status: 404,
      client_address: "10.0.0.1",
    });
    expect(parsed()[1]).toMatchObject({ message: "call", status: 409 });
  });
});
