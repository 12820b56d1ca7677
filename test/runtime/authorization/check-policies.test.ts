import { expect, test } from "vitest";
import type { AccessPolicy, AccessResource } from "../../../src/api/format.ts";
import { parseModel } from "../../../src/model/index.ts";
import { checkPolicies } from "../../../src/runtime/authorization/authorization-plan.ts";
import { methodOf } from "./calls.ts";
import { serviceMethod } from "./messages.ts";

const { model } = parseModel(
  "definition user {}\ndefinition doc { relation viewer: user\n permission view = viewer\n}",
  "test.zed",
);

function authz(of: {
  action?: string;
  audience?: string;
  resource?: AccessResource;
}): Partial<AccessPolicy> {
  const { action = "view", audience = "user", resource = { type: "doc", id: "*" as const } } = of;
  return { exposure: "AUTHORIZED", authz: { action, audience, resource, mode: "CHECK_ONLY" } };
}

const field = (path: string): AccessResource => ({ type: "doc", id: [{ kind: "field", path }] });
const literal = (text: string): AccessResource => ({
  type: "doc",
  id: [{ kind: "literal", text }],
});
const caller = (name: string): AccessResource => ({
  type: "doc",
  id: [{ kind: "principal", field: name }],
});

test.each<[string, Partial<AccessPolicy>, "One" | "Many" | "raw", string]>([
  ["no authz", { exposure: "AUTHORIZED" }, "One", "has no authz"],
  ["an unknown type", authz({ resource: { type: "file", id: "*" } }), "One", 'no type "file"'],
  ["an unknown action", authz({ action: "edit" }), "One", 'no permission "edit"'],
  ["a relation", authz({ action: "viewer" }), "One", 'no permission "viewer"'],
  ["an unknown audience", authz({ audience: "robot" }), "One", 'no subject type "robot"'],
  ["an unknown field", authz({ resource: field("doc_id") }), "One", '"doc_id" is not a field'],
  ["a stream's field", authz({ resource: field("id") }), "Many", "there is no single request"],
  [
    "a field of a raw handler",
    authz({ resource: field("id") }),
    "raw",
    "there is no single request",
  ],
  ["a list of the caller", authz({ resource: caller("roles") }), "One", "{principal.roles} is no"],
  [
    "an unknown claim",
    authz({ resource: caller("toString") }),
    "One",
    "{principal.toString} is no",
  ],
  ["an empty id", authz({ resource: { type: "doc", id: [] } }), "One", '"" is not an object id'],
  [
    "two fields without anything between them",
    authz({
      resource: {
        type: "doc",
        id: [
          { kind: "field", path: "id" },
          { kind: "field", path: "inner.id" },
        ],
      },
    }),
    "One",
    "two placeholders of its resource are adjacent",
  ],
  ["a literal #", authz({ resource: literal("a#b") }), "One", '"a#b" is not an object id'],
])("%s is refused", (_, policy, kind, message) => {
  const descriptor = kind === "raw" ? undefined : serviceMethod(kind);
  const method = methodOf(policy, { descriptor, kind: descriptor?.methodKind ?? "raw" });
  const problems = checkPolicies([method], model);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(message);
  expect(problems[0]).toContain("a.v1.Service/Method could never be authorized: ");
});

test("valid policies have no problem", () => {
  const descriptor = serviceMethod("One");
  const many = serviceMethod("Many");
  const methods = [
    methodOf({ exposure: "PUBLIC" }),
    methodOf(authz({}), { descriptor }),
    methodOf(authz({ resource: field("inner.id") }), { descriptor }),
    methodOf(authz({ resource: caller("organization_id") }), { descriptor }),
    methodOf(authz({ resource: literal("root") }), { descriptor: many, kind: many.methodKind }),
  ];
  expect(checkPolicies(methods, model)).toEqual([]);
});

test("all problems are reported; without a model, those that need no model", () => {
  const bad = methodOf(authz({ action: "edit", audience: "robot", resource: field("nothing") }), {
    descriptor: serviceMethod("One"),
  });
  expect(checkPolicies([bad], model)).toHaveLength(3);
  expect(checkPolicies([bad], undefined)).toHaveLength(1);
});
