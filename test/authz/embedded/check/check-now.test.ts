import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import type { CheckRequest } from "../../../../src/authz/engine/requests.ts";
import { parseModel } from "../../../../src/model/index.ts";

const { model } = parseModel(
  "definition user {}\ndefinition document {\n  relation viewer: user\n  permission view = viewer\n}\n",
  "model.zed",
);
const REQUEST: CheckRequest = {
  resource: { type: "document", id: "a" },
  permission: "view",
  subject: { type: "user", id: "alice" },
};

async function open() {
  if (model === undefined) throw new Error("the model is wrong");
  return createEmbeddedEngine({ model, store: createMemoryStore() });
}

it.each([
  ["an unknown type", { ...REQUEST, resource: { type: "folder", id: "a" } }],
  ["an unknown permission", { ...REQUEST, permission: "edit" }],
  ["an invalid id", { ...REQUEST, resource: { type: "document", id: "a b" } }],
  ["a wildcard object", { ...REQUEST, resource: { type: "document", id: "*" } }],
  ["no subject", { ...REQUEST, subject: undefined as never }],
])("%s is refused, as check does", async (_, request) => {
  const engine = await open();
  const error = await engine.check(request).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(() => engine.checkNow?.(request)).toThrow(error as Error);
  await engine.close();
});

it("an engine that is closed decides nothing", async () => {
  const engine = await open();
  expect(engine.checkNow?.(REQUEST).allowed).toBe(false);
  await engine.close();
  const error = await engine.check(REQUEST).catch((reason: unknown) => reason);
  expect(() => engine.checkNow?.(REQUEST)).toThrow(error as Error);
});

it("the revision of head is that of a check, and another one after each write", async () => {
  const engine = await open();
  const { resource, subject } = REQUEST;
  const relationship = { resource, relation: "viewer", subject };
  const seen = [engine.headNow?.()];
  for (const operation of ["CREATE", "DELETE"] as const) {
    const { revision } = await engine.writeRelationships({
      updates: [{ operation, relationship }],
    });
    expect(engine.headNow?.()).toBe(revision);
    expect((await engine.check(REQUEST)).revision).toBe(revision);
    seen.push(engine.headNow?.());
  }
  expect(new Set(seen).size).toBe(3);
  await engine.close();
  expect(() => engine.headNow?.()).toThrow("the engine is closed");
});
