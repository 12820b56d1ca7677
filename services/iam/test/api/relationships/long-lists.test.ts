/** Lists that are longer than one call may skip, over an engine whose cursors end with each write. */
import { type AuthorizationEngine, AuthzError, type Page } from "svc-access/authz";
import { expect, test } from "vitest";
import type { ListPosition, ListTokens } from "../../../src/api/relationships/list-token.ts";
import { RelationshipList } from "../../../src/api/relationships/relationship-list.ts";
import { MOST_SKIPS } from "../../../src/api/relationships/relationship-reads.ts";
import { formatRelationship } from "../../../src/rights/relationships.ts";

const LENGTH = (2 * MOST_SKIPS + 5) * 1000;
const nameOf = (index: number) => `n${String(index).padStart(7, "0")}`;
const SPACE = { type: "skill_space", id: "long" };
const TOKENS = {
  write: (_: unknown, position: ListPosition) => JSON.stringify(position),
  read: (_: unknown, token: string) => (token === "" ? undefined : JSON.parse(token)),
} as unknown as ListTokens;

/** An engine with as many items; a cursor of before a write is outdated. */
function longEngine() {
  const state = { version: 1, reads: 0 };
  function page<Item>(length: number, itemOf: (index: number) => Item) {
    return ({ pageSize = 1000, cursor }: { pageSize?: number; cursor?: string }): Page<Item> => {
      state.reads++;
      const [version = state.version, begin = 0] = cursor?.split(":").map(Number) ?? [];
      if (version !== state.version) throw new AuthzError("OUT_OF_RANGE", "there were writes");
      const end = Math.min(length, begin + pageSize);
      const items = Array.from({ length: end - begin }, (_, at) => itemOf(begin + at));
      const revision = String(state.version) as Page<Item>["revision"];
      return { items, revision, ...(end < length && { nextCursor: `${version}:${end}` }) };
    };
  }
  const viewers = page(LENGTH, (index) => ({
    resource: SPACE,
    relation: "viewer",
    subject: { type: "user", id: nameOf(index) },
  }));
  const spaces = page(LENGTH, nameOf);
  const engine = {
    kind: "embedded",
    readRelationships: async (filter: { resourceId?: string }, request: object) => {
      if (filter.resourceId === SPACE.id) return viewers(request);
      const resource = { type: SPACE.type, id: filter.resourceId ?? "" };
      const subject = { type: "user", id: "a" };
      return { items: [{ resource, relation: "owner", subject }], revision: "1" };
    },
    lookupResources: async (request: object) => spaces(request),
    checkBulk: async (checks: readonly unknown[]) => ({
      items: checks.map(() => ({ allowed: true })),
      revision: "1",
    }),
  };
  const list = new RelationshipList(engine as unknown as AuthorizationEngine, TOKENS, {});
  return { state, list };
}

const visibleTo = { subject: { type: "user", id: "a" }, permission: "view" };

test.each([
  [
    "the relationships of a resource",
    { resourceType: SPACE.type, resourceId: SPACE.id, visibleTo },
    { resourceId: SPACE.id, after: `skill_space:long#viewer@user:${nameOf(LENGTH - 11)}` },
    (index: number) => `skill_space:long#viewer@user:${nameOf(index)}`,
  ],
  [
    "resources",
    { resourceType: SPACE.type, visibleTo },
    { resourceId: nameOf(LENGTH - 11) },
    (index: number) => `skill_space:${nameOf(index)}#owner@user:a`,
  ],
])(
  "a token near the end of %s skips in several calls of few reads",
  async (_, listed, at, text) => {
    const { state, list } = longEngine();
    const found: string[] = [];
    // As it was before a write.
    let token = JSON.stringify({ ...at, cursor: "0:5000", lookup: "0:5000" });
    let calls = 0;
    do {
      state.reads = 0;
      const page = await list.page(listed, 100, token);
      // The outdated one, the state, and where a page ends.
      expect(state.reads).toBeLessThanOrEqual(MOST_SKIPS + 3);
      found.push(...page.relationships.map(formatRelationship));
      token = page.nextPageToken;
      calls++;
    } while (token !== "");
    expect(found).toEqual(Array.from({ length: 10 }, (_, index) => text(LENGTH - 10 + index)));
    expect(calls).toBe(3);
  },
);

test("a write while it skips begins again, and the list goes on", async () => {
  const { state, list } = longEngine();
  const listed = { resourceType: SPACE.type, resourceId: SPACE.id, visibleTo };
  const after = `skill_space:long#viewer@user:${nameOf(LENGTH - 11)}`;
  let token = JSON.stringify({ resourceId: SPACE.id, after });
  ({ nextPageToken: token } = await list.page(listed, 100, token));
  state.version++;
  const found: string[] = [];
  do {
    const page = await list.page(listed, 3, token);
    found.push(...page.relationships.map(formatRelationship));
    token = page.nextPageToken;
  } while (token !== "");
  const expected = Array.from({ length: 10 }, (_, index) => nameOf(LENGTH - 10 + index));
  expect(found).toEqual(expected.map((name) => `skill_space:long#viewer@user:${name}`));
});
