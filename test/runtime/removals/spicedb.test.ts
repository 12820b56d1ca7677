/** Relationships in SpiceDB, which lists any number of them, are removed over several pages and turns. */
import { describe, expect, test } from "vitest";
import type { RelationshipUpdate } from "../../../src/authz/index.ts";
import {
  type RemovingEngine,
  removeRelationshipsOf,
} from "../../../src/runtime/removals/relationship-removal.ts";
import { useSpicedb } from "../../authz/spicedb/fixture.ts";
import { spicedbIsAbsent } from "../../support/spicedb.ts";

const SCHEMA = `definition user {}
definition group {
  relation member: user
}
`;

function touch(from: number, length: number): RelationshipUpdate[] {
  return Array.from({ length }, (_, index) => ({
    operation: "TOUCH",
    relationship: {
      resource: { type: "group", id: "g" },
      relation: "member",
      subject: { type: "user", id: `u${from + index}` },
    },
  }));
}

describe.skipIf(spicedbIsAbsent())("a removal with SpiceDB", () => {
  const spicedb = useSpicedb(SCHEMA);

  test("ends for more relationships than a page has, though others are written meanwhile", async () => {
    const { engine } = spicedb;
    for (const from of [0, 900, 1800]) {
      await engine.writeRelationships({ updates: touch(from, 900) });
    }
    let late = 0;
    const removing: RemovingEngine = {
      writeRelationships: (request, options) => engine.writeRelationships(request, options),
      async readRelationships(filter, page, options) {
        if (page?.cursor !== undefined && late < 3) {
          await engine.writeRelationships({ updates: touch(10_000 + late++, 1) });
        }
        return engine.readRelationships(filter, page, options);
      },
    };
    const sizes: number[] = [];
    const { signal } = new AbortController();
    const turn = () =>
      removeRelationshipsOf(removing, { type: "group", id: "g" }, signal, (size) =>
        sizes.push(size),
      );
    while (await turn());
    expect((await engine.readRelationships({ resourceType: "group" })).items).toEqual([]);
    expect([late, sizes.reduce((sum, size) => sum + size)]).toEqual([2, 2702]);
    expect(Math.max(...sizes)).toBe(500);
  });
});
