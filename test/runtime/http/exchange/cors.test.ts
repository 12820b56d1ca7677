/** Pages of other origins. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import { startWebServer, type WebServer } from "../../rpc-over-http/support/web-server.ts";
import {
  get,
  httpRoute,
  type Running,
  sendRaw,
  start,
  statusOf,
  stopAll,
  thingMethod,
} from "../support.ts";

const APP = "https://app.example.com";
const ECHO = "/fixture.v1.EchoService/Echo";

describe("that call routes (41)", () => {
  let running: Running;
  beforeAll(async () => {
    running = await start({
      config: { cors: { allowed_origins: [APP], max_age_seconds: 3600 } },
      methods: [
        thingMethod(
          "getThing",
          [httpRoute("GET /v1/things/{name}"), httpRoute("POST /v1/things", { body: "*" })],
          async ({ name }) => ({ name }),
        ),
      ],
    });
  });
  afterAll(stopAll);

  const preflight = (target: string, ...headers: string[]) =>
    [`OPTIONS ${target} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
  const ASK = "Access-Control-Request-Method: POST";

  it.each([
    ["null"],
    ["*"],
    ["https://app.example.com.evil.com"],
    ["https://evilapp.example.com"],
    ["https://app.example.com:8443"],
    ["http://app.example.com"],
    ["https://app.example.com/"],
    ["https://APP.example.com"],
    ["https://app.example.com, https://evil.com"],
  ])("41: %s may not call", async (origin) => {
    const asked = await sendRaw(running.port, preflight("/v1/things", `Origin: ${origin}`, ASK));
    expect(statusOf(asked)).toBe(403);
    const called = await sendRaw(running.port, get("/v1/things/x", `Origin: ${origin}`));
    for (const response of [asked, called]) {
      expect(response).not.toMatch(/access-control/i);
      expect(response).toContain("Vary: Origin");
    }
  });

  it("41: two origins are not an allowed origin", async () => {
    const origin = "Origin: https://app.example.com";
    expect(
      statusOf(await sendRaw(running.port, preflight("/v1/things", origin, origin, ASK))),
    ).toBe(403);
  });

  it("answers the preflight of an allowed origin with the lists of the platform [TRANS-5]", async () => {
    const origin = "Origin: https://app.example.com";
    const response = await sendRaw(running.port, preflight("/v1/things", origin, ASK));
    expect(statusOf(response)).toBe(204);
    for (const header of [
      "Access-Control-Allow-Origin: https://app.example.com",
      "Access-Control-Allow-Credentials: true",
      "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers: Authorization, Content-Type, X-Request-ID, X-Trace-ID, Idempotency-Key",
      "Access-Control-Expose-Headers: X-Request-ID, Idempotent-Replayed",
      "Access-Control-Max-Age: 3600",
      "Vary: Origin",
    ]) {
      expect(response).toContain(header);
    }
  });

  it("lets the page of an allowed origin read errors too", async () => {
    const response = await sendRaw(running.port, get("/nope", "Origin: https://app.example.com"));
    expect(statusOf(response)).toBe(404);
    expect(response).toContain("Access-Control-Allow-Origin: https://app.example.com");
  });
});

describe("that use Connect and gRPC-Web", () => {
  let server: WebServer;
  beforeAll(async () => {
    server = await startWebServer({
      origins: [APP],
      handlers: {
        echo: async (_request, context: CallContext) => {
          context.setResponseHeader("x-own", "1");
          context.setResponseTrailer("x-last", "2");
          return {};
        },
      },
    });
  });
  afterAll(() => server.close());

  function call(type: string, origin: string, body: string | Uint8Array<ArrayBuffer>) {
    const headers = { "content-type": type, "connect-protocol-version": "1", origin };
    return fetch(`${server.origin}${ECHO}`, { method: "POST", headers, body });
  }

  it("another origin gets no CORS headers", async () => {
    const response = await call("application/json", `${APP}.evil.com`, "{}");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("access-control-expose-headers")).toBeNull();
  });

  it("a preflight allows the headers of both", async () => {
    const response = await fetch(`${server.origin}${ECHO}`, {
      method: "OPTIONS",
      headers: { origin: APP, "access-control-request-method": "POST" },
    });
    expect(response.status).toBe(204);
    const allowed = response.headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining([
        "Content-Type",
        "Connect-Protocol-Version",
        "Connect-Timeout-Ms",
        "X-Grpc-Web",
        "X-User-Agent",
        "Grpc-Timeout",
      ]),
    );
    expect(allowed).not.toContain("*");
  });

  it.each<[type: string, body: string | Uint8Array<ArrayBuffer>, names: string[]]>([
    ["application/json", "{}", ["x-own", "Trailer-x-last"]],
    ["application/grpc-web", new Uint8Array(5), ["x-own"]],
  ])("what a handler sets can be read by name, as %s", async (type, body, names) => {
    const response = await call(type, APP, body);
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(APP);
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["X-Request-ID", "Grpc-Status", ...names]));
  });

  it("pages may read the headers of a rate limit", async () => {
    const response = await call("application/json", APP, "{}");
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    const names = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"];
    expect(exposed).toEqual(expect.arrayContaining(["Retry-After", ...names]));
  });
});
