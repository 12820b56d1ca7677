import { describe, expect, test } from "vitest";
import type { Change, RelationshipUpdate } from "../../../src/authz/engine/requests.ts";
import { failure, touch, write } from "./calls.ts";
import { updates } from "./schema.ts";
import type { Differences, Opened } from "./target.ts";

/** watch. */
export function watchContract(opened: Opened, { createIsWatchedAs }: Differences): void {
  const collect = async (changes: AsyncIterable<Change>, count: number) => {
    const seen: Change[] = [];
    for await (const change of changes) {
      seen.push(change);
      if (seen.length === count) return seen;
    }
    return seen;
  };
  const byText = (list: readonly RelationshipUpdate[] = []) =>
    list.map((update) => JSON.stringify(update)).sort();

  describe("a watch", () => {
    test("reports each write after a revision, in order and complete", async () => {
      const { engine } = opened();
      const start = await write(engine, "TOUCH", "team:h-a#member@user:before");
      await write(engine, "CREATE", "team:h-a#member@user:one");
      await touch(engine, "team:h-a#member@user:two", "team:h-b#member@team:h-a#member");
      await write(engine, "DELETE", "team:h-a#member@user:one");
      const seen = await collect(engine.watch(start.revision), 3);
      const expected = [
        updates(createIsWatchedAs, "team:h-a#member@user:one"),
        updates("TOUCH", "team:h-a#member@user:two", "team:h-b#member@team:h-a#member"),
        updates("DELETE", "team:h-a#member@user:one"),
      ];
      expect(seen.map(({ updates }) => byText(updates))).toEqual(expected.map(byText));
      const [again] = await collect(engine.watch(seen[1]?.revision), 1);
      expect(byText(again?.updates)).toEqual(byText(expected[2]));
    });

    test("reports writes as they happen", async () => {
      const { engine } = opened();
      const { revision } = await write(engine, "TOUCH", "team:h-c#member@user:before");
      const watching = collect(engine.watch(revision), 2);
      await touch(engine, "team:h-c#member@user:one");
      await touch(engine, "team:h-c#member@user:two");
      expect((await watching).map(({ updates }) => updates)).toEqual([
        updates("TOUCH", "team:h-c#member@user:one"),
        updates("TOUCH", "team:h-c#member@user:two"),
      ]);
    });

    test("ends when its caller aborts or stops it", async () => {
      const { engine } = opened();
      const { revision } = await write(engine, "TOUCH", "team:h-d#member@user:before");
      const aborted = { signal: AbortSignal.abort() };
      for (const from of [undefined, revision]) {
        expect(await failure(collect(engine.watch(from, aborted), 1))).toMatchObject({
          name: "AuthzError",
          code: "CANCELLED",
        });
        const stop = new AbortController();
        const watching = failure(collect(engine.watch(from, { signal: stop.signal }), 1));
        setTimeout(() => stop.abort(), 50);
        expect(await watching).toMatchObject({ name: "AuthzError", code: "CANCELLED" });
      }
    });
  });
}
