/** No log line or audit event contains line breaks, escapes or secrets that callers send. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditLog } from "../../../src/runtime/index.ts";
import { ServiceError } from "../../../src/runtime/index.ts";
import { until } from "../../support/until.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { frame, rawCall } from "../grpc/support/raw-call.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { INTERNAL_TOKEN, SYSTEM_TOKEN } from "../support/vault-server.ts";
import { ALICE } from "./support/alice.ts";
import { laxSession, metadataOf } from "./support/lax-session.ts";
import { type Field, headerOf, requestText, sendText } from "./support/raw-http.ts";
import { startWorld, type World } from "./support/world.ts";

const PASSWORD = "hunter2hunter2";
const JWT = `eyJhbGciOiJSUzI1NiJ9.${"YWJj".repeat(8)}.${"c2ln".repeat(8)}`;

let world: World;
beforeAll(async () => {
  const handlers = {
    ...vaultHandlers(),
    // A handler whose errors contain the request and more.
    async getNotice({ noticeId }: { noticeId: string }): Promise<never> {
      if (noticeId === "told")
        throw new ServiceError("FAILED_PRECONDITION", `no\r\nX: 1 \u001b[31m`);
      throw new Error(
        `cannot open postgres://app:${PASSWORD}@db/x for ${noticeId} password=${PASSWORD}`,
      );
    },
  };
  world = await startWorld({ mode: "gateway_trusted", bindings: [bindVaultService(handlers)] });
});
afterAll(() => world.stop());

/** The lines that were logged during some work, which consists of calls. */
async function linesOf(work: () => Promise<unknown>, calls = 1): Promise<string[]> {
  const before = world.vault.lines.length;
  await work();
  // The line of a call is logged when it has ended, which its client may see earlier.
  const isLast = (line: string) => /"message":"(call|request)"/.test(line);
  const logged = () => world.vault.lines.slice(before).filter(isLast);
  await until(`${calls} calls are logged`, () => logged().length >= calls);
  return world.vault.lines.slice(before);
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Expects that each line is one JSON object without secrets and control characters. */
function expectClean(lines: readonly string[], count = 1): void {
  expect(lines.length).toBeGreaterThanOrEqual(count);
  for (const line of lines) {
    expect(line.endsWith("\n")).toBe(true);
    expect(line.slice(0, -1)).not.toMatch(CONTROL);
    const values = JSON.stringify(Object.values(JSON.parse(line) as object));
    for (const secret of [PASSWORD, INTERNAL_TOKEN, SYSTEM_TOKEN, JWT]) {
      expect(values).not.toContain(secret);
    }
    expect(() => JSON.parse(line)).not.toThrow();
  }
}

const http = (line: string, fields: readonly Field[] = [], body = "") =>
  sendText(world.port("http", "trusted"), requestText(line, fields, body));

describe("42 the access log", () => {
  test.each([
    ["42 line breaks in a path", "GET /v1/documents/a%0d%0a%7B%22level%22:50%7D", []],
    ["42 an escape in a path", "GET /v1/documents/%1b%5b31mred", []],
    ["42 raw bytes in a path", "GET /v1/documents/\u001b[31m\u0085\u00e2\u0080\u00ae", []],
    ["42 quotes in a path", 'GET /v1/documents/","admin":true,"x":"', []],
    ["42 a direction mark in a path", "GET /v1/documents/%E2%80%AEgnp.exe", ALICE],
    ["42 a line separator in a path", "GET /v1/documents/%E2%80%A8x", ALICE],
    ["42 a secret in a query", `GET /v1/profile?password=${PASSWORD}&token=${JWT}`, []],
    ["42 a secret in a query of no route", `GET /nothing?client_secret=${PASSWORD}`, []],
    ["42 a token in a path", `GET /v1/documents/${JWT}`, []],
    ["42 a password in a path", `GET /v1/documents/password=${PASSWORD}`, []],
    [
      "42 an agent with a secret",
      "GET /v1/profile",
      [["User-Agent", `curl token=${JWT} password=${PASSWORD}`]],
    ],
    [
      "42 an agent with raw bytes",
      "GET /v1/profile",
      [["User-Agent", "a\u0085b\u00e2\u0080\u00a8c\u009b31m\tx"]],
    ],
    ["42 an agent of 10 KB", "GET /v1/profile", [["User-Agent", "x".repeat(10_000)]]],
    ["42 a request id with quotes", "GET /v1/profile", [["X-Request-Id", '","admin":"']]],
    ["42 a request id with a line", "GET /v1/profile", [["X-Request-Id", "a\u0085b"]]],
    ["42 a request id of 10 KB", "GET /v1/profile", [["X-Request-Id", "x".repeat(10_000)]]],
    [
      "42 two request ids",
      "GET /v1/profile",
      [
        ["X-Request-Id", "a"],
        ["X-Request-Id", "b"],
      ],
    ],
    [
      "42 an invalid trace",
      "GET /v1/profile",
      [["Traceparent", `00-${"x".repeat(32)}-${"1".repeat(16)}-01`]],
    ],
    [
      "42 a forged caller",
      "GET /v1/profile",
      [["X-Svc-Internal-Token", `${INTERNAL_TOKEN}\u00e9`]],
    ],
    ["42 a wrong internal token", "GET /v1/profile", [["X-Svc-Internal-Token", PASSWORD]]],
    ["42 a Bearer", "GET /v1/profile", [["Authorization", `Bearer ${JWT}`]]],
    [
      "42 Basic",
      "GET /v1/profile",
      [["Authorization", `Basic ${Buffer.from(`a:${PASSWORD}`).toString("base64")}`]],
    ],
    [
      "42 a forwarded address with an escape",
      "GET /v1/profile",
      [["X-Forwarded-For", "1.2.3.4\u009b31m, a\u0085b"]],
    ],
    ["42 a malformed request", "\u001b[31mGET\u0007", []],
    [
      "42 a subject of the gateway with quotes",
      "GET /v1/profile",
      [
        ["X-Svc-Auth-Verified", "true"],
        ["X-Svc-User-Id", 'a","admin":"true'],
      ],
    ],
  ] as [string, string, Field[]][])("%s", async (_title, line, fields) => {
    const lines = await linesOf(() => http(line, fields));
    expectClean(lines);
    const messages = lines.map((one) => Object.values(JSON.parse(one) as object).at(-1));
    expect(messages.filter((one) => one === "call" || one === "request")).toHaveLength(1);
  });

  test("42 an error of a handler is sent to no caller, and logged without its secrets", async () => {
    const lines = await linesOf(async () => {
      const [response] = await http("GET /v1/notices/n%E2%80%AE");
      expect(response?.status).toBe(500);
      expect(JSON.parse(response?.body ?? "")).toEqual({
        status: 500,
        code: "INTERNAL",
        message: "internal error",
        request_id: headerOf(response as never, "x-request-id"),
      });
    });
    expectClean(lines);
    expect(lines.join("")).toContain("cannot open");
  });

  test("42 a reported error cannot leave its body", async () => {
    const [response, ...others] = await http("GET /v1/notices/told");
    expect(others).toEqual([]);
    expect(headerOf(response as never, "x")).toBeUndefined();
    expect(JSON.parse(response?.body ?? "")).toMatchObject({ message: "no\r\nX: 1 \u001b[31m" });
    const session = laxSession(world.port("grpc", "stranger"));
    const answer = await rawCall(
      session,
      "/acme.vault.v1.VaultService/GetNotice",
      {},
      frame(Buffer.from("\n\x04told")),
    );
    session.destroy();
    expect(answer).toMatchObject({ grpcStatus: 9, message: "no\r\nX: 1 \u001b[31m" });
    expect(Object.keys({ ...answer.headers, ...answer.trailers })).not.toContain("x");
  });

  test("42 metadata of gRPC", async () => {
    const fields: Field[] = [
      ["user-agent", `grpc token=${JWT}\u00e2\u0080\u00ae`],
      ["x-request-id", '","a":"'],
      ["x-secret-bin", "////"],
      ["authorization", `Bearer ${JWT}`],
    ];
    const session = laxSession(world.port("grpc", "stranger"));
    const lines = await linesOf(() =>
      rawCall(
        session,
        "/acme.vault.v1.VaultService/GetProfile",
        metadataOf(fields),
        frame(Buffer.alloc(0)),
      ),
    );
    session.destroy();
    expectClean(lines);
  });
});

describe("42 audit events", () => {
  const put = (path: string, fields: readonly Field[], body: string) =>
    http(`PUT ${path}`, [...ALICE, ["Content-Type", "application/json"], ...fields], body);

  test("42 contain neither the body, nor secrets, nor control characters [AUDIT-4]", async () => {
    const lines = await linesOf(async () => {
      await put(
        "/v1/documents/open",
        [["User-Agent", `password=${PASSWORD}`]],
        `{"text":"${PASSWORD}"}`,
      );
      await put("/v1/documents/%E2%80%AEx", [["X-Request-Id", "a\u0085"]], "{}");
      await put("/v1/documents/closed", [["Traceparent", "00-zz"]], "{");
      const internal: Field[] = [
        ["Content-Type", "application/json"],
        ["X-Svc-Internal-Token", INTERNAL_TOKEN],
      ];
      await http(
        "POST /v1/documents:reconcile",
        internal,
        `{"reason":"\\r\\n\\u001b[31m ${PASSWORD}"}`,
      );
    }, 4);
    expectClean(lines, 8);
    const { events } = await (world.vault.server.audit as AuditLog).list();
    expect(events).toHaveLength(4);
    for (const event of events) {
      expect(JSON.stringify(event)).not.toMatch(CONTROL);
      expect(JSON.stringify(event)).not.toContain(PASSWORD);
      expect(JSON.stringify(event)).not.toContain(INTERNAL_TOKEN);
    }
  });

  test("42 a denied, a malformed and an interrupted write leave one event each", async () => {
    const list = async () =>
      (await (world.vault.server.audit as AuditLog).list({}, { pageSize: 500 })).events;
    const before = (await list()).length;
    // Each has its own caller, since repeated refusals of one are counted.
    const as = (user: string): Field[] => [
      ...ALICE.map(([name, value]): Field => [name, value === "alice" ? user : value]),
      ["Content-Type", "application/json"],
    ];
    await http("PUT /v1/documents/closed", as("lone-1"), "{}");
    await http("PUT /v1/documents/open", as("lone-2"), "{");
    const socket = connect(world.port("http", "trusted"), "127.0.0.1");
    const fields: Field[] = [...as("lone-3"), ["Content-Length", "9"]];
    socket.write(requestText("PUT /v1/documents/open", fields, "{"));
    setTimeout(() => socket.destroy(), 300);
    await new Promise((resolve) => socket.once("close", resolve));
    await http("PUT /v1/documents/%23", as("lone-4"), "{}");
    await expect
      .poll(async () => (await list()).length, { message: "each of the four writes is audited" })
      .toBe(before + 4);
    const events = (await list()).slice(0, 4);
    expect(events.map(({ data }) => data.code).sort()).toEqual([
      "FORBIDDEN",
      "INVALID_ARGUMENT",
      "INVALID_ARGUMENT",
      "INVALID_ARGUMENT",
    ]);
    expect(events.every(({ data }) => data.principal?.id.startsWith("lone-"))).toBe(true);
  });
});
