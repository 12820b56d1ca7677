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
