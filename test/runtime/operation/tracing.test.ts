import { expect, test } from "vitest";
import { clientTargetOf } from "../../../src/runtime/operation/tracing/client-target.ts";
import { createClientTracing } from "../../../src/runtime/operation/tracing/client-tracing.ts";
import { httpSpanName } from "../../../src/runtime/operation/tracing/http-attributes.ts";
import { createTracing } from "../../../src/runtime/operation/tracing/tracing.ts";
import type { HttpRoute } from "../../../src/runtime/service-binding.ts";
import { callOf, methodOf } from "./calls.ts";

test("there is none where no provider is registered", () => {
  expect(createTracing()).toBeUndefined();
  expect(createClientTracing({ address: "hub" })).toBeUndefined();
});

const route = (method: string, path: string, verb?: string): HttpRoute => {
  const [plain = ""] = path.split(/:(?=[a-z]+$)/);
  const segments = plain
    .slice(1)
    .split("/")
    .map((segment) => (/^\{.*=\*\*\}$/.test(segment) ? "**" : segment.replace(/^\{.*\}$/, "*")));
  return {
    rpc: "",
    method,
    path,
    segments,
    variables: [],
    ...(verb === undefined ? {} : { verb }),
  };
};

test.each([
  ["GET", "/v1/a/7", "GET /v1/a/{id}"],
  ["GET", "/v1/b/7?x=/v1/a/7", "GET /v1/b/{id}"],
  ["GET", "/v1/b/7:poll", "GET /v1/b/{id}:poll"],
  ["GET", "/v1/files/a/b/c", "GET /v1/files/{path=**}"],
  ["PUT", "/v1/c/7", "PUT /v1/c/{id}"],
  ["PURGE", "/v1/d/7", "HTTP /v1/d/{id}"],
  // No route has it: what names the span is the RPC, never the path.
  ["GET", "/v1/none/of/them", "GET hub.v1.HubService/Get"],
])("%s %s has the name %s", (httpMethod, target, name) => {
  const routes = [
    route("GET", "/v1/b/{id}:poll", "poll"),
    route("GET", "/v1/a/{id}"),
    route("GET", "/v1/b/{id}"),
    route("GET", "/v1/files/{path=**}"),
    route("PUT", "/v1/c/{id}"),
    route("PURGE", "/v1/d/{id}"),
  ];
  const method = methodOf({ routes, descriptor: {} as never });
  expect(httpSpanName(callOf({ method, httpMethod, target }))).toBe(name);
});

test.each([
  ["localhost:19010", "localhost", 19010],
  ["hub", "hub", undefined],
  ["[::1]:19010", "::1", 19010],
  ["dns:///hub.apps:19001", "hub.apps", 19001],
  ["http://hub:18001/base", "hub", 18001],
  ["http://user:SECRET@hub/", "hub", 80],
  ["https://hub.example.com", "hub.example.com", 443],
  ["http://[::1]:8080", "::1", 8080],
])("a client of %s calls %s, port %s", (target, address, port) => {
  expect(clientTargetOf(target)).toEqual({ address, ...(port === undefined ? {} : { port }) });
});
