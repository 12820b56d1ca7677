import { expect, test } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import { parseModel } from "../../../../src/model/index.ts";
import { formatRelationship, parseRelationship } from "../../../../src/model/relationship-text.ts";

// Types and relations of which one begins with the other, as texts are compared with what ends them.
const { model } = parseModel(
  `
  definition user { relation member: user }
  definition user/bot {}
  definition doc {
    relation viewer: user | user#member | user:* | user/bot
    relation viewer2: user | user/bot
  }
  definition doc/draft { relation viewer: user }
  `,
  "model.zed",
);

const TEXTS = [
  // Every character of an id, after one that another id ends with.
  ...["a", "a+", "a-", "a/", "a0", "a=", "aA", "a_", "aa", "a|", "A", "b"].flatMap((id) => [
    `doc:${id}#viewer@user:u`,
    `doc/draft:${id}#viewer@user:u`,
    `doc:d#viewer@user:${id}`,
    `doc:d#viewer@user:${id}#member`,
    `doc:d#viewer2@user:${id}`,
    `doc:d#viewer@user/bot:${id}`,
  ]),
  "doc:d#viewer@user:*",
  ...Array.from({ length: 5000 }, (_, index) => `doc:many#viewer@user:${index}`),
  ...Array.from({ length: 5000 }, (_, index) => `doc:${index}#viewer2@user:u`),
];

test.each([
  ["everything", {}, /^/],
  ["a type", { resourceType: "doc" }, /^doc:/],
  ["a resource", { resourceType: "doc", resourceId: "d" }, /^doc:d#/],
  ["a long resource", { resourceType: "doc", resourceId: "many" }, /^doc:many#/],
  ["a subject", { subject: { type: "user", id: "u" } }, /@user:u$/],
])("relationships of %s are listed in the order of their texts", async (_, filter, pattern) => {
  if (model === undefined) throw new Error("the model is wrong");
  const relationships = TEXTS.toReversed().map((text) => {
    const parsed = parseRelationship(text);
    if (parsed === undefined) throw new Error(text);
    return parsed.relationship;
  });
  const engine = await createEmbeddedEngine({ model, store: createMemoryStore(relationships) });
  const listed: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = { pageSize: 1000, ...(cursor !== undefined && { cursor }) };
    const { items, nextCursor } = await engine.readRelationships(filter, page);
    listed.push(...items.map(formatRelationship));
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  expect(listed).toEqual(TEXTS.filter((text) => pattern.test(text)).toSorted());
  await engine.close();
});
