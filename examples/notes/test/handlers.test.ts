/** Tests of handlers: no access policy is enforced here. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { testContext, testEngine } from "svc-access/testing";
import { ListItemsRequestSchema, SetItemRequestSchema } from "../gen/notes/v1/notes_pb.ts";
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

test("a list has the items of all pages of the engine", async () => {
  const itemIds = Array.from({ length: 1001 }, (_, index) => `item-${index}`);
  const relationships = itemIds.map((id) => `item:${id}#owner@user:alice`);
  await using engine = await testEngine({ model: MODEL, relationships });
  const service = handlers(engine);
  const alice = testContext({ user: "alice" });
  for (const itemId of itemIds) {
    await service.setItem(create(SetItemRequestSchema, { itemId, text: "hello" }), alice);
  }
  const { items } = await service.listItems(create(ListItemsRequestSchema), alice);
  assert.equal(items?.length, itemIds.length);
});
