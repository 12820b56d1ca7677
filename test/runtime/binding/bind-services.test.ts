import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { bindServices } from "../../../src/runtime/binding/bind-services.ts";
import type { ServiceBinding } from "../../../src/runtime/index.ts";
import { VaultService } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import {
  bindVaultService,
  type VaultServiceHandlers,
} from "../fixture/gen/acme/vault/v1/vault_server.ts";

const GET_NOTICE = "acme.vault.v1.VaultService/GetNotice";
const handlers = Object.fromEntries(
  VaultService.methods.map(({ localName }) => [localName, () => ({})]),
) as unknown as VaultServiceHandlers;
const valid: ServiceBinding = bindVaultService(handlers);

describe("a server does not start with [EXP-6]", () => {
  test.each<[string, readonly ServiceBinding[], string]>([
    ["no service", [], "no service is bound"],
    ["a service twice", [valid, valid], "acme.vault.v1.VaultService is bound twice"],
    [
      "another format",
      [{ ...valid, formatVersion: 2 as unknown as 1 }],
      "was generated in format 2, and this runtime knows 1",
    ],
    ["an invalid binding", [{ formatVersion: 9 } as never], "a service was generated in format 9"],
    [
      "an RPC without a policy",
      [{ ...valid, policies: without(valid.policies, GET_NOTICE) }],
      `${GET_NOTICE} has no policy`,
    ],
    [
      "a policy of an unknown RPC",
      [
        {
          ...valid,
          policies: { ...valid.policies, "a.B/C": { exposure: "PUBLIC", publish: false } },
        },
      ],
      "there is a policy for a.B/C",
    ],
    [
      "a route of an unknown RPC",
      [
        {
          ...valid,
          routes: [{ rpc: "a.B/C", method: "GET", path: "/c", segments: ["c"], variables: [] }],
        },
      ],
      "the route GET /c leads to a.B/C",
    ],
    [
      "an RPC without a handler",
      [
        {
          ...valid,
          handlers: without(handlers as unknown as Record<string, unknown>, "getNotice"),
        },
      ],
      `${GET_NOTICE} has no handler: write getNotice`,
    ],
    [
      "no handlers at all",
      [{ ...valid, handlers: undefined as unknown as object }],
      "has no handler",
    ],
    [
      "an unknown exposure",
      [withPolicy({ exposure: "OPEN" as "PUBLIC", publish: true })],
      "has the unknown exposure OPEN",
    ],
    [
      "AUTHORIZED without authz",
      [withPolicy({ exposure: "AUTHORIZED", publish: true })],
      "must have authz if, and only if",
    ],
    [
      "a rate limit of 0",
      [withPolicy({ exposure: "PUBLIC", publish: true, rateLimit: { qps: 0, burst: 0 } })],
      "qps is at least 1",
    ],
    [
      "a rate limit that is not a number",
      [withPolicy({ exposure: "PUBLIC", publish: true, rateLimit: { qps: Number.NaN, burst: 1 } })],
      "qps is at least 1",
    ],
    [
      "a burst below the rate",
      [withPolicy({ exposure: "PUBLIC", publish: true, rateLimit: { qps: 2, burst: 1 } })],
      "qps is at least 1, burst at least qps",
    ],
    [
      "authz without AUTHORIZED",
      [withPolicy({ ...authorizedPolicy(), exposure: "AUTHENTICATED" })],
      "must have authz if, and only if, it is AUTHORIZED",
    ],
    [
      "a handler that is only a method of every object",
      [withMethod({ localName: "hasOwnProperty" })],
      "has no handler: write hasOwnProperty",
    ],
  ])("%s", (_, bindings, problem) => {
    expect(bindServices(bindings).problems.join("\n")).toContain(problem);
  });
});

test.each([
  ["an object", { hasOwnProperty: async () => ({ id: "own" }) }],
  [
    "a class",
    new (class {
      async hasOwnProperty() {
        return { id: "own" };
      }
    })(),
  ],
])("the handler of %s may have the name of a method of every object", async (_, own) => {
  const { methods, problems } = bindServices([
    { ...withMethod({ localName: "hasOwnProperty" }), handlers: Object.assign(own, handlers) },
  ]);
  expect(problems).toEqual([]);
  const handler = methods[0]?.handler as (request: unknown) => Promise<unknown>;
  expect(await handler({})).toEqual({ id: "own" });
});

test.each(["equal qps and burst", "a burst above qps"])("%s may be a rate limit", (what) => {
  const rateLimit = { qps: 1, burst: what === "a burst above qps" ? 2 : 1 };
  const binding = withPolicy({ exposure: "PUBLIC", publish: true, rateLimit });
  expect(bindServices([binding]).problems).toEqual([]);
});

describe("an RPC changes something [ANNO-14]", () => {
  const { NO_SIDE_EFFECTS, IDEMPOTENT, IDEMPOTENCY_UNKNOWN } = MethodOptions_IdempotencyLevel;
  const implied = `POST /${GET_NOTICE}`;
  test.each<[string[], MethodOptions_IdempotencyLevel, boolean]>([
    [[], IDEMPOTENCY_UNKNOWN, true],
    [[], IDEMPOTENT, true],
    [[], NO_SIDE_EFFECTS, false],
    [[implied], IDEMPOTENCY_UNKNOWN, true],
    [[implied], NO_SIDE_EFFECTS, false],
    [["GET /n"], IDEMPOTENCY_UNKNOWN, false],
    [["HEAD /n"], IDEMPOTENCY_UNKNOWN, false],
    [["GET /n", "HEAD /n"], IDEMPOTENCY_UNKNOWN, false],
    [["GET /n", "POST /n"], NO_SIDE_EFFECTS, true],
    [["POST /n"], NO_SIDE_EFFECTS, true],
    [["PUT /n"], NO_SIDE_EFFECTS, true],
    [["DELETE /n"], NO_SIDE_EFFECTS, true],
    [[`GET /${GET_NOTICE}`], IDEMPOTENCY_UNKNOWN, false],
    [[`DELETE /${GET_NOTICE}`], NO_SIDE_EFFECTS, true],
    [["GET /n", implied], IDEMPOTENCY_UNKNOWN, false],
  ])("by %j and idempotency %i: %s", (bound, idempotency, expected) => {
    const routes = bound.map((route) => {
      const [method = "", path = ""] = route.split(" ");
      return { rpc: GET_NOTICE, method, path, segments: path.slice(1).split("/"), variables: [] };
    });
    const { methods, problems } = bindServices([{ ...withMethod({ idempotency }), routes }]);
    expect(problems).toEqual([]);
    expect(methods[0]?.isWrite).toBe(expected);
    expect(methods[0]?.routes).toEqual(routes);
    expect(methods[1]?.routes).toEqual([]);
  });
});

test("all problems are reported at once", () => {
  const { problems } = bindServices([{ ...valid, policies: {}, handlers: {} }]);
  expect(problems).toHaveLength(VaultService.methods.length * 2);
});

test("a valid service has all its methods, in order", () => {
  const { methods, problems } = bindServices([valid]);
  expect(problems).toEqual([]);
  expect(methods.map(({ index, rpc, kind, isWrite }) => ({ index, rpc, kind, isWrite }))).toEqual(
    [
      ["GetNotice", "unary", false],
      ["GetProfile", "unary", false],
      ["GetDocument", "unary", false],
      ["ListDocuments", "unary", false],
      ["UpdateDocument", "unary", true],
      ["PollDocument", "unary", false],
      ["UnlockDocument", "unary", false],
      ["SearchDocuments", "unary", true],
      ["InspectDocuments", "unary", false],
      ["DumpDocuments", "unary", false],
      ["Reconcile", "unary", true],
      ["Reset", "unary", true],
      ["WatchDocument", "server_streaming", false],
      ["UploadDocument", "client_streaming", true],
      ["Converse", "bidi_streaming", true],
    ].map(([name, kind, isWrite], index) => {
      return { index, rpc: `acme.vault.v1.VaultService/${name}`, kind, isWrite };
    }),
  );
});

test("handlers may be the methods of a class", () => {
  class Handlers {
    readonly #word = "mine";
    getNotice() {
      return this.#word;
    }
  }
  const instance = Object.assign(new Handlers(), without(handlers as never, "getNotice"));
  const { methods } = bindServices([{ ...valid, handlers: instance }]);
  expect(methods[0]?.handler({}, {})).toBe("mine");
});

function authorizedPolicy(): ServiceBinding["policies"][string] {
  const policy = Object.values(valid.policies).find(({ exposure }) => exposure === "AUTHORIZED");
  if (policy === undefined) throw new Error("the service has no AUTHORIZED method");
  return policy;
}

/** The service with a changed first method. */
function withMethod(change: Partial<DescMethod>): ServiceBinding {
  const [first, ...rest] = VaultService.methods;
  const methods = [{ ...first, ...change }, ...rest] as DescMethod[];
  return { ...valid, service: { ...VaultService, methods } as unknown as DescService };
}

function withPolicy(policy: ServiceBinding["policies"][string]): ServiceBinding {
  return { ...valid, policies: { ...valid.policies, [GET_NOTICE]: policy } };
}

function without<Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
