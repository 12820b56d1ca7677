/** Pages of other origins that use Connect and gRPC-Web. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import { startWebServer, type WebServer } from "../../rpc-over-http/support/web-server.ts";

const APP = "https://app.example.com";
const ECHO = "/fixture.v1.EchoService/Echo";

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
