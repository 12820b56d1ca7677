import { expect, test } from "vitest";
import {
  clientTargetOf,
  createClientTracing,
} from "../../../../src/runtime/client/chain/client-tracing.ts";
import { httpSpanName } from "../../../../src/runtime/observers/tracing/span-attributes.ts";
import { createTracing } from "../../../../src/runtime/observers/tracing/tracing.ts";
import { callOf } from "../../support/sample-call.ts";

test("there is no tracing if no provider is registered", () => {
  expect(createTracing()).toBeUndefined();
  expect(createClientTracing({ address: "hub" })).toBeUndefined();
});

test.each([
  ["GET", "/v1/a/{id}", "GET /v1/a/{id}"],
  ["PURGE", "/v1/d/{id}", "HTTP /v1/d/{id}"],
  // Without a route, the span has the name of the RPC, never the path.
  ["GET", undefined, "GET hub.v1.HubService/Get"],
])("%s by the route %s has the name %s", (httpMethod, route, name) => {
  const by = route === undefined ? {} : { route };
  expect(httpSpanName(callOf({ httpMethod, target: "/v1/a/7", ...by }))).toBe(name);
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
