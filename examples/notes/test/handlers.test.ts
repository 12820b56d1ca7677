/** Tests of handlers: no access policy is enforced here. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { testContext, testEngine } from "svc-access/testing";
import { SetItemRequestSchema } from "../gen/notes/v1/notes_pb.ts";
import { handlers } from "../src/handlers.ts";

const MODEL = join(import.meta.dirname, "../model.zed");

test("an item remembers who changed it", async () => {
  await using engine = await testEngine({ model: MODEL });
  const service = handlers(engine);
  const request = create(SetItemRequestSchema, { itemId: "first", text: "hello" });
  const { item } = await service.setItem(request, testContext({ user: "alice" }));
  assert.equal(item?.changedBy, "alice");
});

test("an item without a text is rejected", async () => {
  await using engine = await testEngine({ model: MODEL });
  const service = handlers(engine);
  const request = create(SetItemRequestSchema, { itemId: "first" });
  await assert.rejects(service.setItem(request, testContext({ user: "alice" })), {
    code: "INVALID_ARGUMENT",
  });
});
