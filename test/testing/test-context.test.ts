import { expect, test } from "vitest";
import { requirePrincipal, ServiceError } from "../../src/runtime/index.ts";
import { testContext } from "../../src/testing/index.ts";

test("the caller is a user with the given claims", () => {
  const context = testContext({ user: "alice", name: "Alice", groups: ["eng"], rpc: "a.B/C" });
  expect(requirePrincipal(context)).toEqual({
    subjectId: "alice",
    subjectType: "user",
    username: "Alice",
    name: "Alice",
    email: "",
    organizationId: "",
    groups: ["eng"],
    roles: [],
    scopes: [],
    source: "gateway",
  });
  expect(context.rpc).toBe("a.B/C");
});

test("the caller is a service or nobody", () => {
  expect(testContext({ service: "hub" }).principal).toMatchObject({
    subjectId: "hub",
    subjectType: "service",
    source: "internal",
  });
  expect(testContext().principal).toBeUndefined();
  expect(() => requirePrincipal(testContext())).toThrow(ServiceError);
});

test("two callers are refused", () => {
  expect(() => testContext({ user: "alice", service: "hub" })).toThrow("set only one of");
});

test("headers, trailers and the end of the call are recorded", () => {
  const context = testContext();
  context.setResponseHeader("X-Total", "3");
  context.appendResponseHeader("x-total", "4");
  context.setResponseTrailer("X-Cost", "1");
  context.appendResponseTrailer("X-Unit", "s");
  expect([...context.responseHeaders, ...context.responseTrailers]).toEqual([
    ["x-total", "3, 4"],
    ["x-cost", "1"],
    ["x-unit", "s"],
  ]);
  expect(context.signal.aborted).toBe(false);
  context.abort();
  expect(context.signal.reason).toMatchObject({ code: "CANCELLED" });
});

test("a signal of the test aborts the call too", () => {
  const outer = new AbortController();
  const { signal } = testContext({ signal: outer.signal });
  outer.abort(new Error("over"));
  expect(signal.reason).toMatchObject({ message: "over" });
});

test.each([
  ["setResponseHeader", "a b", "x"],
  ["setResponseHeader", "x-a", "line\nbreak"],
  ["setResponseTrailer", "", "x"],
  ["appendResponseHeader", "a b", "x"],
  ["appendResponseTrailer", "", "x"],
] as const)("%s refuses a value that no transport can send: %j", (method, name, value) => {
  expect(() => testContext()[method](name, value)).toThrow(TypeError);
});

test("what a handler adds to the audit is recorded, and validated as by the server", async () => {
  const context = testContext({ user: "alice" });
  context.audit.setResource("item:first");
  await context.audit.record({ event: "item.shared", resource: "item:first" });
  expect(context.auditResource).toBe("item:first");
  expect(context.auditRecords).toEqual([{ event: "item.shared", resource: "item:first" }]);
  expect(() => context.audit.setResource("first")).toThrow(TypeError);
  await expect(context.audit.record({ event: "Shared!" })).rejects.toThrow(TypeError);
});
