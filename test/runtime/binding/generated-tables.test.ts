/** Functions for generated code: immutable tables, and routes from their path templates. */
import { describe, expect, test } from "vitest";
import {
  deepFreeze,
  type HttpRoute,
  httpRoutes,
} from "../../../src/runtime/binding/service-binding.ts";

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

describe("deepFreeze", () => {
  test("freezes a table at every depth, and returns it", () => {
    const table = { "a.B/C": { exposure: "AUTHORIZED", authz: { id: [{ kind: "field" }] } } };
    expect(deepFreeze(table)).toBe(table);
    expect(isFrozen(table)).toBe(true);
  });

  test("freezes the content of a frozen object", () => {
    const inner = { exposure: "PUBLIC" };
    deepFreeze(Object.freeze({ inner }));
    expect(Object.isFrozen(inner)).toBe(true);
  });

  test.each([undefined, null, 1, "text"])("returns %j unchanged", (value) => {
    expect(deepFreeze(value)).toBe(value);
  });
});

describe("httpRoutes", () => {
  test.each([
    ["", "the path is empty; write, for example, /v1/things"],
    ["v1", 'the path must start with "/" (character 1)'],
    ["/v1/{id", "(character 8)"],
  ])("refuses the path %j", (path, message) => {
    const make = () => httpRoutes("a.B", [{ rpc: "C", method: "GET", path }]);
    expect(make).toThrow(`a.B/C: the path ${path}: `);
    expect(make).toThrow(message);
  });

  /** A declaration, and the same route as older generated code of format 1 has it. */
  const WRITTEN_OUT: readonly [object, HttpRoute][] = [
    [
      { rpc: "Get", method: "GET", path: "/v1/things" },
      {
        rpc: "a.B/Get",
        method: "GET",
        path: "/v1/things",
        segments: ["v1", "things"],
        variables: [],
      },
    ],
    [
      { rpc: "Move", method: "*", path: "/v1/{thing.name=shelves/*/things/**}:move", body: "*" },
      {
        rpc: "a.B/Move",
        method: "*",
        path: "/v1/{thing.name=shelves/*/things/**}:move",
        segments: ["v1", "shelves", "*", "things", "**"],
        variables: [{ field: "thing.name", start: 1, end: 5 }],
        verb: "move",
        body: "*",
      },
    ],
    [
      { rpc: "Root", method: "POST", path: "/", body: "thing", responseBody: "thing" },
      {
        rpc: "a.B/Root",
        method: "POST",
        path: "/",
        segments: [],
        variables: [],
        body: "thing",
        responseBody: "thing",
      },
    ],
  ];

  test.each(WRITTEN_OUT)(
    "makes the route of older generated code from %j",
    (declaration, route) => {
      const [made] = httpRoutes("a.B", [declaration as never]);
      expect(made).toStrictEqual(route);
      expect(isFrozen(made)).toBe(true);
    },
  );

  test("keeps the order, and is frozen", () => {
    const routes = httpRoutes("a.B", [
      { rpc: "Z", method: "GET", path: "/z" },
      { rpc: "A", method: "GET", path: "/a" },
    ]);
    expect(routes.map(({ rpc }) => rpc)).toEqual(["a.B/Z", "a.B/A"]);
    expect(isFrozen(routes)).toBe(true);
  });
});
