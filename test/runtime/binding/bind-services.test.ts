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

describe("a server does not start with", () => {
  test.each<[string, readonly ServiceBinding[], string]>([
    ["no service", [], "no service is bound"],
    ["a service twice", [valid, valid], "acme.vault.v1.VaultService is bound twice"],
    [
      "another format",
      [{ ...valid, formatVersion: 2 as unknown as 1 }],
      "was generated in format 2, and this runtime knows 1",
    ],
    [
      "an RPC without a policy",
      [{ ...valid, policies: without(valid.policies, GET_NOTICE) }],
      `${GET_NOTICE} has no policy`,
    ],
    [
      "a policy of no RPC",
      [
        {
          ...valid,
          policies: { ...valid.policies, "a.B/C": { exposure: "PUBLIC", publish: false } },
        },
      ],
      "there is a policy for a.B/C",
    ],
    [
      "a route of no RPC",
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
      "an exposure that there is not",
      [withPolicy({ exposure: "OPEN" as "PUBLIC", publish: true })],
      "has the exposure OPEN",
    ],
    [
      "AUTHORIZED without authz",
      [withPolicy({ exposure: "AUTHORIZED", publish: true })],
      "must have authz with AUTHORIZED",
    ],
    [
      "a rate limit of nothing",
      [withPolicy({ exposure: "PUBLIC", publish: true, rateLimit: { qps: 0, burst: 0 } })],
      "qps is at least 1",
    ],
    [
      "a rate limit that is no number",
      [withPolicy({ exposure: "PUBLIC", publish: true, rateLimit: { qps: Number.NaN, burst: 1 } })],
      "qps is at least 1",
    ],
  ])("%s", (_, bindings, problem) => {
    expect(bindServices(bindings).problems.join("\n")).toContain(problem);
  });
});

test("all problems are told at once", () => {
  const { problems } = bindServices([{ ...valid, policies: {}, handlers: {} }]);
  expect(problems).toHaveLength(VaultService.methods.length * 2);
});

test("a service that fits has all its methods, in order", () => {
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

function withPolicy(policy: ServiceBinding["policies"][string]): ServiceBinding {
  return { ...valid, policies: { ...valid.policies, [GET_NOTICE]: policy } };
}

function without<Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
