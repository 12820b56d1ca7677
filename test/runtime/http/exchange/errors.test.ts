/** Errors as callers of routes get them. */
import { afterEach, describe, expect, it } from "vitest";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import type { Thing } from "../fixture/thing_pb.ts";
import { errorOf, get, httpRoute, sendRaw, start, stopAll, thingMethod } from "../support.ts";

afterEach(stopAll);

const GET_THING = [httpRoute("GET /v1/things/{name}")];

describe("errors [ERR-2]", () => {
  it.each([
    [new ServiceError("UNAUTHORIZED", "missing principal"), 401, { message: "missing principal" }],
    [new ServiceError("INTERNAL", "select * from secrets"), 500, { message: "internal error" }],
    [new Error("select * from secrets"), 500, { code: "INTERNAL", message: "internal error" }],
    [ServiceError.of(409, "SKILL_PUBLISHED", "it is published"), 409, { code: "SKILL_PUBLISHED" }],
    [
      new ServiceError("INVALID_ARGUMENT", "x", { details: { field: "a" } }),
      400,
      { details: { field: "a" } },
    ],
    [new ServiceError("INVALID_ARGUMENT", "x", { details: { field: 1n } }), 400, { message: "x" }],
  ])("%s", async (error, status, expected) => {
    const { origin } = await start({
      methods: [thingMethod("getThing", GET_THING, async () => Promise.reject(error))],
    });
    const response = await fetch(`${origin}/v1/things/a`, { headers: { "x-request-id": "abc-1" } });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(status);
    expect(body).toMatchObject({ status, request_id: "abc-1", ...expected });
    expect(JSON.stringify(body)).not.toContain("secrets");
    expect(response.headers.get("x-request-id")).toBe("abc-1");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  });

  it("has Retry-After", async () => {
    const error = new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 1.2 });
    const { origin } = await start({
      methods: [thingMethod("getThing", GET_THING, async () => Promise.reject(error))],
    });
    const response = await fetch(`${origin}/v1/things/a`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "2"]);
  });

  it("has the phrase of its status if a header of the handler cannot be sent", async () => {
    const { port } = await start({
      methods: [
        thingMethod("getThing", GET_THING, async (_thing: Thing, context: CallContext) => {
          context.setResponseHeader("x-a", "a\r\nb: c");
          return {};
        }),
      ],
    });
    const response = await sendRaw(port, get("/v1/things/a"));
    expect(response).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/);
    expect(response).not.toContain("b: c");
  });

  it("ignores a request id that is unsafe in a log", async () => {
    const { port } = await start({ methods: [] });
    const response = await sendRaw(port, get("/nope", "X-Request-ID: a b"));
    expect(errorOf(response)["request_id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});
