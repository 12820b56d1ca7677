/** The lists of the examples, which users copy, over an engine with several pages. */
import { expect, test } from "vitest";
import { heldIds } from "../../examples/hub/src/hub/relationships.ts";
import { handlers } from "../../examples/notes/src/handlers.ts";
import type { AuthorizationEngine } from "../../src/authz/index.ts";
import { testContext } from "../../src/testing/index.ts";

/** An engine whose listings have so many pages of 1,000 objects. */
function engineOf(pages: number) {
  let asked = 0;
  const lookupResources: AuthorizationEngine["lookupResources"] = async ({ cursor = "0" }) => {
    asked++;
    const page = Number(cursor);
    const items = Array.from({ length: 1000 }, (_, index) => `${1000 * page + index}`);
    const next = page + 1 < pages ? { nextCursor: String(page + 1) } : {};
    return { items, revision: "1", ...next };
  };
  return { engine: { lookupResources } as AuthorizationEngine, asked: () => asked };
}

const alice = testContext({ user: "alice" });
const held = (engine: AuthorizationEngine) =>
  heldIds(engine, { resourceType: "project", permission: "read" }, alice);
const listed = async (engine: AuthorizationEngine) =>
  handlers(engine).listItems({} as never, alice);

test.each([1, 2, 100])("the hub reads all of %i pages", async (pages) => {
  const { engine } = engineOf(pages);
  const ids = await held(engine);
  expect([ids.length, new Set(ids).size]).toEqual([1000 * pages, 1000 * pages]);
});

test.each([1, 2, 10])("notes reads all of %i pages", async (pages) => {
  const { engine, asked } = engineOf(pages);
  await listed(engine);
  expect(asked()).toBe(pages);
});

test.each([
  ["the hub", held, 101],
  ["notes", listed, 11],
] as const)("%s refuses a list that is too long, and reads no further", async (_, list, most) => {
  const { engine, asked } = engineOf(1000);
  await expect(list(engine)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  expect(asked()).toBe(most);
});
