import { describe, expect, test } from "vitest";
import type { RelationshipFilter } from "../../../src/model/relationship.ts";
import { formatRelationship } from "../../../src/model/relationship-text.ts";
import { pages, touch } from "./calls.ts";
import type { Differences, Opened } from "./target.ts";

const STORED = [
  "document:f-a#banned@user:f-x",
  "document:f-a#viewer@team:f-g#member",
  "document:f-a#viewer@user:*",
  "document:f-a#viewer@user:f-x",
  "document:f-b#viewer@user:f-x",
  "folder:f-a#viewer@user:f-x",
  "team:f-g#member@team:f-h#member",
  "team:f-g#member@user:f-x",
];
const FILTERS: readonly [filter: RelationshipFilter, expected: RegExp][] = [
  [{ resourceType: "document", resourceId: "f-a" }, /^document:f-a#/],
  [{ resourceType: "document", resourceId: "f-a", relation: "viewer" }, /^document:f-a#viewer/],
  [{ resourceType: "document", resourceId: "f-none" }, /^never$/],
  [{ subject: { type: "user", id: "f-x" } }, /@user:f-x$/],
  [{ resourceType: "document", subject: { type: "user", id: "f-x" } }, /^document.*@user:f-x$/],
  [
    { resourceType: "document", resourceId: "f-a", subject: { type: "user", id: "*" } },
    /^document:f-a.*@user:\*$/,
  ],
  [{ relation: "banned", subject: { type: "user", id: "f-x" } }, /#banned@user:f-x$/],
  [{ resourceId: "f-a" }, /^\w+:f-a#/],
  [{ resourceType: "team", resourceId: "f-g" }, /^team:f-g#/],
  [
    { resourceType: "team", resourceId: "f-g", subject: { type: "team", relation: "member" } },
    /^team:f-g#.*@team:f-h#member$/,
  ],
  [
    { resourceType: "team", resourceId: "f-g", subject: { type: "user", relation: "" } },
    /^team:f-g#.*@user/,
  ],
  [{ subject: { type: "team", id: "f-g", relation: "" } }, /^never$/],
  [{ subject: { type: "team", id: "f-g" } }, /@team:f-g/],
];

/** readRelationships. */
export function filtersContract(opened: Opened, { sortedRelationships }: Differences): void {
  const read = async (filter: RelationshipFilter, pageSize: number) => {
    const found = await pages((page) =>
      opened().engine.readRelationships(filter, { pageSize, ...page }),
    );
    // Without a filter, SpiceDB ends a page after each type.
    const full = found.slice(0, -1).every((page) => page.length === pageSize);
    expect(full || Object.keys(filter).length === 0).toBe(true);
    const texts = found.flat().map(formatRelationship);
    return sortedRelationships ? texts : texts.sort();
  };

  describe("relationships are read", () => {
    test.each(FILTERS)("%j", async (filter, expected) => {
      await touch(opened().engine, ...STORED);
      for (const pageSize of [1, 2, 1000]) {
        expect(await read(filter, pageSize)).toEqual(STORED.filter((text) => expected.test(text)));
      }
    });

    test("without a filter, each once", async () => {
      await touch(opened().engine, ...STORED);
      const all = await read({}, 1000);
      expect(all).toEqual([...new Set(all)].sort());
      expect(all.filter((text) => STORED.includes(text))).toEqual(STORED);
      expect(await read({}, 97)).toEqual(all);
    });

    test("in pages, of which the last is full", async () => {
      const texts = Array.from({ length: 1000 }, (_, index) => `team:f-full#member@user:u${index}`);
      await touch(opened().engine, ...texts);
      const filter = { resourceType: "team", resourceId: "f-full" };
      for (const [pageSize, count] of [
        [1000, 1],
        [500, 2],
      ] as const) {
        const found = await pages((page) =>
          opened().engine.readRelationships(filter, { pageSize, ...page }),
        );
        expect(found.map(({ length }) => length)).toEqual(Array(count).fill(pageSize));
      }
    });
  });
}
