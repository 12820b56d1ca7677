import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { errorOf, streamErrorOf } from "../../../src/runtime/client/http/http-error.ts";
import { createHttpClient, type ServiceClient } from "../../../src/runtime/index.ts";
import { httpRoute } from "./support.ts";
import { EditionService } from "./unusual-protos/gen/unusual/edition/v1/edition_pb.ts";
import { KindService, Shade } from "./unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { LegacyService } from "./unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import { PathService } from "./unusual-protos/gen/unusual/paths/v1/paths_pb.ts";

/** What a server got that answers everything with `{}`. */
const lines: string[] = [];
const server = createServer((request, response) => {
  lines.push(`${request.method} ${request.url} ${request.headers["content-type"] ?? "-"}`);
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
beforeEach(() => {
  lines.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A client that knows one route of an RPC. */
function clientOf<Service extends DescService>(
  service: Service,
  rpc: string,
  route: string,
  body?: string,
): ServiceClient<Service> {
  const { port } = server.address() as AddressInfo;
  const one = httpRoute(route, {
    rpc: `${service.typeName}/${rpc}`,
    ...(body === undefined ? {} : { body }),
  });
  return createHttpClient(service, [one], { baseUrl: `http://127.0.0.1:${port}` });
}

describe("fields without a place in the request are not sent", () => {
  it.each([
    ["a field with presence that is absent, in a path", { key: "k" }, "GET /v1/{count}"],
    ["an enum with presence that is absent, in a path", { key: "k" }, "GET /v1/{mood}"],
    ["a list of groups, in a query", { key: "k", row: [{}] }, "GET /v1"],
  ])("%s", async (_name, request, route) => {
    await using client = clientOf(LegacyService, "Load", route);
    await expect(client.load(request)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(lines).toEqual([]);
  });

  it.each(["GET /v1/{text}", "GET /v1/query"])("text that is not Unicode: %s", async (route) => {
    await using client = clientOf(KindService, "Query", route);
    await expect(client.query({ text: "\ud800" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "a string of the request is not valid Unicode",
    });
    expect(lines).toEqual([]);
  });

  it("a response with fields, of a HEAD", async () => {
    await using client = clientOf(PathService, "Head", "HEAD /v1/head/{name}");
    await expect(client.head({ name: "a" })).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
    expect(lines).toEqual([]);
  });
});

describe("what is sent", () => {
  it("has the default of a field without presence in a path", async () => {
    await using client = clientOf(KindService, "Query", "GET /v1/{shade}/{big}/{truth}");
    await client.query({});
    await client.query({ shade: Shade.DARK, big: 5n, truth: true });
    expect(lines).toEqual(["GET /v1/SHADE_UNSPECIFIED/0/false -", "GET /v1/SHADE_DARK/5/true -"]);
  });

  it("has the default of an explicit field only if it is set", async () => {
    await using client = clientOf(EditionService, "Load", "GET /v1/{number}");
    await expect(client.load({})).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await client.load({ number: 0 });
    expect(lines).toEqual(["GET /v1/0 -"]);
  });

  it("has no body if its field is absent", async () => {
    await using client = clientOf(KindService, "Fields", "POST /v1/body", "anything");
    await client.fields({});
    await client.fields({ anything: { kind: { case: "nullValue", value: 0 } } });
    expect(lines).toEqual(["POST /v1/body -", "POST /v1/body application/json"]);
  });

  it("omits fields of the path, and the messages around them, from the query", async () => {
    await using client = clientOf(PathService, "Nested", "GET /v1/{inner.inner.name}");
    await client.nested({ inner: { inner: { name: "a" } } });
    await client.nested({ inner: { number: 1n, inner: { name: "a" } } });
    await client.nested({ inner: { inner: { name: "a", inner: {} } } });
    expect(lines).toEqual([
      "GET /v1/a -",
      "GET /v1/a?inner.number=1 -",
      "GET /v1/a?inner.inner.inner= -",
    ]);
  });

  it("has no slash for bytes in a path", async () => {
    await using client = clientOf(KindService, "Query", "GET /v1/{data}/x");
    await client.query({ data: new Uint8Array([0xfb, 0xff, 0xbf, 0xff]) });
    expect(lines).toEqual(["GET /v1/-_-__w%3D%3D/x -"]);
  });

  it("has protobuf names in the query if JSON names would mean other fields", async () => {
    await using client = clientOf(KindService, "Query", "GET /v1/query");
    await client.query({ dotted: "x", renamed: "y", constructor$: "z" });
    expect(lines).toEqual(["GET /v1/query?Other-Name=y&dotted=x&constructor=z -"]);
  });
});

it("treats a line as an error only if it is one of the server", () => {
  const error = { status: 404, code: "RESOURCE_NOT_FOUND", message: "no" };
  expect(streamErrorOf({ error })).toBeUndefined();
  expect(streamErrorOf({ error: { ...error, request_id: "r" } })).toMatchObject({ status: 404 });
});

describe("an error of a foreign server", () => {
  it.each<[string, number, unknown, string, string]>([
    ["no JSON", 400, undefined, "INVALID_ARGUMENT", "invalid argument"],
    ["a list", 403, [5], "FORBIDDEN", "permission denied"],
    ["a code without a message", 404, { code: 9 }, "RESOURCE_NOT_FOUND", "resource not found"],
    ["no code of gRPC", 409, { code: 409, message: "no" }, "ALREADY_EXISTS", "already exists"],
    ["the code of no error", 502, { code: 0, message: "no" }, "UNAVAILABLE", "unavailable"],
  ])("is that of its status, where its body is %s", (_name, httpStatus, body, code, message) => {
    expect(errorOf(httpStatus, body, {})).toMatchObject({ code, message });
  });

  it.each<[number, number, string]>([
    [400, 9, "FAILED_PRECONDITION"],
    [409, 10, "FAILED_PRECONDITION"],
    [400, 11, "INVALID_ARGUMENT"],
    [404, 5, "RESOURCE_NOT_FOUND"],
    [403, 7, "FORBIDDEN"],
    [401, 16, "UNAUTHORIZED"],
    [429, 8, "RATE_LIMITED"],
    [500, 2, "INTERNAL"],
    [503, 14, "UNAVAILABLE"],
  ])("%i with the google.rpc.Status %i is %s, with its message", (httpStatus, status, code) => {
    const body = { code: status, message: "told", details: [] };
    expect(errorOf(httpStatus, body, {})).toMatchObject({ code, message: "told", isRemote: true });
    expect(errorOf(httpStatus, { ...body, message: "" }, {}).message).not.toBe("");
  });
});
