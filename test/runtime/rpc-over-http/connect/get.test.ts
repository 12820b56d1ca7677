/** Connect by GET: where it may be, and what its query may be. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AccessPolicy } from "../../../../src/api/format/access-policy.ts";
import type { BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import { mayGet } from "../../../../src/runtime/rpc-over-http/web-protocols.ts";
import { boundMethods } from "../../grpc/support/echo-methods.ts";
import { httpRoute } from "../../http/support.ts";
import { startWebServer, type WebServer } from "./support/web-server.ts";

const GET = httpRoute("GET /v1/echo");
const NO_SIDE_EFFECTS = 1;

/** Echo as it would be with an option, a route and a policy. */
function readable(change: Partial<BoundMethod> = {}, idempotency = NO_SIDE_EFFECTS): BoundMethod {
  const [echo] = boundMethods() as [BoundMethod];
  const descriptor = Object.assign(Object.create(echo.descriptor as object), { idempotency });
  return { ...echo, descriptor, isWrite: false, routes: [GET], ...change };
}

const policy = (exposure: AccessPolicy["exposure"]) => ({ policy: { exposure, publish: false } });

/** The request with a field that is to be redacted, within another message. */
function redacted(): BoundMethod {
  const method = readable();
  const descriptor = method.descriptor as NonNullable<BoundMethod["descriptor"]>;
  const secret = { proto: { options: { debugRedact: true } }, message: undefined };
  const inner = { fields: [secret] };
  const outer = { fields: [{ proto: {}, message: inner }] };
  const input = { fields: [{ proto: {}, message: outer }] };
  return { ...method, descriptor: Object.assign(Object.create(descriptor), { input }) };
}

describe("an RPC may not be called by GET [TRANS-3]", () => {
  it.each<[name: string, method: BoundMethod]>([
    ["that may change something", readable({}, 0)],
    ["that is only idempotent", readable({}, 2)],
    ["without a route", readable({ routes: [] })],
    ["with another route", readable({ routes: [httpRoute("POST /v1/echo")] })],
    ["with a stream", readable({ kind: "server_streaming" })],
    ["that is INTERNAL", readable(policy("INTERNAL"))],
    ["that is SYSTEM", readable(policy("SYSTEM"))],
    ["with a field to be redacted", redacted()],
  ])("%s", (_name, method) => {
    expect(mayGet(method)).toBe(false);
  });

  it("but may otherwise", () => {
    expect(mayGet(readable())).toBe(true);
    expect(mayGet(readable(policy("AUTHENTICATED")))).toBe(true);
  });
});

describe("a query", () => {
  let server: WebServer;
  beforeAll(async () => {
    server = await startWebServer({ methods: [readable()], maxBytes: 64 });
  });
  afterAll(() => server.close());

  const ask = (query: string, method = "GET") =>
    fetch(`${server.origin}/fixture.v1.EchoService/Echo?${query}`, { method });

  it.each([
    ["connect=v2&encoding=json&message={}", 400],
    ["connect=v1&connect=v1&encoding=json&message={}", 400],
    ["connect=v1&encoding=json", 400],
    ["connect=v1&encoding=json&message=", 400],
    ["connect=v1&encoding=json&message={}&message={}", 400],
    ["connect=v1&encoding=json&message=%zz", 400],
    ["connect=v1&encoding=json&message=%", 400],
    ["connect=v1&encoding=json&base64=2&message=e30", 400],
    ["connect=v1&encoding=json&base64=1&message=e3", 400],
    ["connect=v1&encoding=json&base64=1&message=e3*9", 400],
    ["connect=v1&encoding=json&base64=1&message=e30===", 400],
    ["connect=v1&encoding=proto&message=%FF", 400],
    ["connect=v1&encoding=json&compression=br&message={}", 501],
    ["connect=v1&encoding=json&compression=gzip&message={}", 400],
    [`connect=v1&encoding=json&message=${encodeURIComponent(`{"text":"${"x".repeat(64)}"}`)}`, 429],
    ["connect=v1&message={}", 415],
    ["connect=v1&encoding=xml&message={}", 415],
    ["encoding=json&message={}", 415],
    ["", 415],
  ])("%s is refused", async (query, status) => {
    const response = await ask(query);
    expect(response.status).toBe(status);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it.each([
    ["connect=v1&encoding=json&message=%7B%22text%22%3A%22a%20b%22%7D"],
    ["connect=v1&encoding=json&message=%7B%22text%22:%22a+b%22%7D"],
    ["message=eyJ0ZXh0IjoiYSBiIn0&base64=1&connect=v1&encoding=json&other=1&other=2"],
    ["message=eyJ0ZXh0IjoiYSBiIn0%3D&base64=1&connect=v1&encoding=json"],
    ["connect=v1&encoding=proto&base64=1&message=CgNhIGI"],
    ["connect=v1&encoding=proto&message=%0A%03a%20b"],
    [
      `connect=v1&encoding=json&base64=1&compression=gzip&message=${gzipSync('{"text":"a b"}').toString("base64url")}`,
    ],
  ])("%s is answered", async (query) => {
    const response = await ask(query);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(Buffer.from(await response.arrayBuffer()).toString("latin1")).toContain("a b");
  });

  it("is answered without a body to HEAD", async () => {
    const response = await ask("connect=v1&encoding=json&message={}", "HEAD");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});
