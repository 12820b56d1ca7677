import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { testEngine } from "../../src/testing/index.ts";

const MODEL =
  "definition user {}\ndefinition item {\n  relation owner: user\n  permission read = owner\n}\n";

test("a page is a list for a message, and its own: changing it changes no later listing", async () => {
  const relationships = ["a", "b", "c"].map((id) => `item:${id}#owner@user:alice`);
  await using engine = await testEngine({ modelText: MODEL, relationships });
  const subject = { type: "user", id: "alice" };
  const request = { resourceType: "item", permission: "read", subject, pageSize: 2 };
  const { items, nextCursor } = await engine.lookupResources(request);
  // A handler returns plain objects, whose lists are those of protobuf: not readonly.
  expect(create(FieldMaskSchema, { paths: items }).paths).toEqual(["a", "b"]);
  items.length = 0;
  expect((await engine.lookupResources(request)).items).toEqual(["a", "b"]);
  const cursor = nextCursor as string;
  expect((await engine.lookupResources({ ...request, cursor })).items).toEqual(["c"]);
});
