/**
 * A segment of a resource name is checked as one object, which is the same
 * over every protocol.
 */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AccessResourcePart } from "../../../src/api/format.ts";
import type { CheckRequest } from "../../../src/authz/engine/requests.ts";
import { createAuthorization } from "../../../src/runtime/authorization/authorization-stage.ts";
import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import { createGrpcClient, createHttpClient } from "../../../src/runtime/index.ts";
import { resourceId } from "../../../src/runtime/resource/resource-id.ts";
import { runs } from "../../support/effort.ts";
import { principalOf } from "../authorization/calls.ts";
import { startEchoServer } from "../grpc/support/echo-server.ts";
import { start, stopAll } from "../http/support.ts";
import {
  PathRequestSchema,
  PathService,
} from "../http/unusual-protos/gen/unusual/paths/v1/paths_pb.ts";
import { PathServiceRoutes } from "../http/unusual-protos/gen/unusual/paths/v1/paths_server.ts";
import { openChain } from "../support/open-chain.ts";

const PATTERNS = ["projects/*/locations/*"];
const part = (segment: string, patterns: readonly string[] = PATTERNS) =>
  ({ kind: "segment", path: "name", segment, patterns }) satisfies AccessResourcePart;

/** The object that `resource` makes of a name. */
function idOf(name: string, ...parts: AccessResourcePart[]): string | undefined {
  const render = resourceId({ type: "location", id: parts }, PathRequestSchema);
  return render?.({ name }, principalOf());
}

describe("a matching name has the segment", () => {
  test.each([
    ["projects/p1/locations/l1", part("projects"), "p1"],
    ["projects/p1/locations/l1", part("locations"), "l1"],
    ["projects/p1/locations/l1", part("1"), "p1"],
    ["projects/p1/locations/l1", part("2"), "l1"],
    ["projects/a%2Fb/locations/l1", part("projects"), "a%2Fb"],
    ["folders/f", part("folders", ["folders/*", "organizations/*/folders/*"]), "f"],
    ["organizations/o/folders/f", part("folders", ["folders/*", "organizations/*/folders/*"]), "f"],
    ["organizations/o", part("organizations", ["organizations/*/**"]), "o"],
    ["organizations/o/a/b", part("organizations", ["organizations/*/**"]), "o"],
  ])("%s", (name, segment, id) => expect(idOf(name, segment)).toBe(id));

  test("beside a literal and another segment", () => {
    const literal = { kind: "literal", text: "/" } as const;
    expect(idOf("projects/p/locations/l", part("projects"), literal, part("locations"))).toBe(
      "p/l",
    );
  });
});

describe("a name that does not match is INVALID_ARGUMENT", () => {
  test.each([
    ["projects/p1"],
    ["projects/p1/locations"],
    ["projects/p1/locations/"],
    ["projects//locations/l1"],
    ["/projects/p1/locations/l1"],
    ["projects/p1/locations/l1/"],
    ["projects/p1/locations/l1/x"],
    ["projects/p1/x/locations/l1"],
    ["projects/p1/Locations/l1"],
    ["xprojects/p1/locations/l1"],
    ["p1"],
    ["/"],
    ["projects/*/locations/l1"],
    ["projects/a b/locations/l1"],
    ["projects/a#b/locations/l1"],
    [`projects/${"x".repeat(300)}/locations/l1`],
    [""],
  ])("%j", (name) => {
    expect(() => idOf(name, part("projects"))).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });

  test("with the expected form", () => {
    expect(() => idOf("p1", part("projects"))).toThrow(
      "the field name must be a name of the form projects/*/locations/*",
    );
  });

  test("even if two patterns match two segments of it", () => {
    const overlapping = ["b/*/**", "*/b/*"];
    expect(() => idOf("b/b/c", part("b", overlapping))).toThrow("must be a name of the form");
    expect(idOf("b/c", part("b", overlapping))).toBe("c");
  });
});

test("a segment that can never be read prevents the server from starting", () => {
  expect(() => idOf("x", part("merchants"))).toThrow("has no segment merchants");
  expect(() => idOf("x", part("projects", []))).toThrow("has no pattern");
  expect(() => idOf("x", { kind: "later" } as never)).toThrow('a part "later"');
});

describe("over HTTP and gRPC", () => {
  let checked: string[];
  const closing: (() => Promise<void>)[] = [];
  let call: Record<"http" | "grpc", (name: string) => Promise<unknown>>;

  beforeAll(async () => {
    const engine = {
      check: async ({ resource }: CheckRequest) => {
        checked.push(`${resource.type}:${resource.id}`);
        return { allowed: true, revision: "1" };
      },
    };
    const chain = {
      authentication: (one: Call) => {
        one.principal = principalOf();
      },
      authorization: createAuthorization({
        engine: engine as never,
        enabled: true,
        devAllowAll: false,
        authnDisabled: false,
        events: { authorization: () => undefined } as never,
      }),
    };
    const descriptor = PathService.method.several;
    const rpc = "unusual.paths.v1.PathService/Several";
    const routes = PathServiceRoutes.filter((route) => route.rpc === rpc && route.method === "GET");
    const method: BoundMethod = {
      index: 0,
      rpc,
      kind: "unary",
      descriptor,
      isWrite: false,
      routes,
      handler: async (request: unknown) => request,
      policy: {
        exposure: "AUTHORIZED",
        publish: true,
        authz: {
          action: "view",
          audience: "user",
          mode: "CHECK_ONLY",
          resource: {
            type: "project",
            id: [part("1", ["projects/*/locations/*", "folders/*", "organizations/*/**"])],
          },
        },
      },
    };
    const web = await start({ chain: openChain(chain), methods: [method] });
    const echo = await startEchoServer({ chain, options: { methods: [method] } });
    const http = createHttpClient(PathService, routes, { baseUrl: web.origin, retry: false });
    const grpc = createGrpcClient(PathService, { target: echo.target, retry: false });
    closing.push(
      async () => http[Symbol.asyncDispose](),
      async () => grpc[Symbol.asyncDispose](),
      () => echo.close(),
      () => stopAll(),
    );
    call = {
      http: (name) => http.several({ name }),
      grpc: (name) => grpc.several({ name }),
    };
  });
  beforeEach(() => {
    checked = [];
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const text = fc.stringMatching(/^[A-Za-z0-9._~:@-]{1,12}$/).filter((one) => !/^\.+$/.test(one));
  const path = fc.oneof(
    fc.tuple(text, text).map(([a, b]) => ({ name: `projects/${a}/locations/${b}`, id: a })),
    text.map((a) => ({ name: `folders/${a}`, id: a })),
    fc
      .tuple(text, fc.array(text, { maxLength: 3 }))
      .map(([a, rest]) => ({ name: ["organizations", a, ...rest].join("/"), id: a })),
  );

  test("a name is checked as the same object", async () => {
    await fc.assert(
      fc.asyncProperty(path, async ({ name, id }) => {
        checked = [];
        await call.http(name);
        await call.grpc(name);
        expect(checked).toEqual([`project:${id}`, `project:${id}`]);
      }),
      { numRuns: runs(60) },
    );
  });

  test("of any name that a gRPC client sends, at most one whole segment is checked", async () => {
    const piece = fc.constantFrom(
      "projects",
      "folders",
      "organizations",
      "locations",
      "x",
      "",
      "*",
      "#",
      " ",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        checked = [];
        const code = await call.grpc(pieces.join("/")).then(
          () => "OK",
          (error: { code: unknown }) => error.code,
        );
        if (checked.length === 0) {
          expect(code).toBe("INVALID_ARGUMENT");
        } else {
          expect(code).toBe("OK");
          expect(checked).toEqual([`project:${pieces[1]}`]);
          expect(pieces[1]).toMatch(/^[a-z]+$/);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
