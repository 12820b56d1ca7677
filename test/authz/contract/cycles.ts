import { describe, expect, test } from "vitest";
import { allows, failure, touch, write } from "./calls.ts";
import { updates } from "./schema.ts";
import type { Opened } from "./target.ts";

/** Writes that would close a cycle. */
export function cyclesContract(opened: Opened): void {
  const refusal = (path: string | RegExp) => ({
    name: "AuthzError",
    code: "FAILED_PRECONDITION",
    message: expect.stringMatching(path),
  });

  describe("a write that would close a cycle is refused, naming the path [ENG-4]", () => {
    test.each([
      [
        "a team in itself",
        [],
        ["team:y-own#member@team:y-own#member"],
        /cycle: team:y-own#member > team:y-own#member$/,
      ],
      [
        "teams",
        ["team:y-a#member@team:y-b#member", "team:y-b#member@team:y-c#member"],
        ["team:y-c#member@team:y-a#member"],
        /cycle: team:y-c#member > team:y-a#member > team:y-b#member > team:y-c#member$/,
      ],
      [
        "folders",
        ["folder:y-p#parent@folder:y-q"],
        ["folder:y-q#parent@folder:y-p"],
        /cycle: folder:y-q#view > folder:y-p#view > folder:y-q#view$/,
      ],
      [
        "a cycle within its own updates",
        [],
        [
          "team:y-1#member@team:y-2#member",
          "team:y-2#member@team:y-3#member",
          "team:y-3#member@team:y-1#member",
        ],
        /cycle: team:y-\d#member > /,
      ],
    ])("%s", async (_, before, closing, path) => {
      const { engine } = opened();
      if (before.length > 0) await touch(engine, ...before);
      expect(await failure(write(engine, "TOUCH", ...closing))).toMatchObject(refusal(path));
      expect(await failure(write(engine, "CREATE", ...closing))).toMatchObject(refusal(path));
      for (const { relationship } of updates("TOUCH", ...closing)) {
        const { type: resourceType, id: resourceId } = relationship.resource;
        const { relation, subject } = relationship;
        const filter = { resourceType, resourceId, relation, subject };
        expect((await engine.readRelationships(filter)).items).toEqual([]);
      }
    });

    test("but not if the same write breaks the cycle", async () => {
      const { engine } = opened();
      await touch(engine, "team:y-x#member@team:y-y#member", "team:y-y#member@team:y-z#member");
      await engine.writeRelationships({
        updates: [
          ...updates("DELETE", "team:y-x#member@team:y-y#member"),
          ...updates("TOUCH", "team:y-z#member@team:y-x#member"),
        ],
      });
      expect(await allows(engine, "team:y-y#member@team:y-x#member")).toBe(true);
    });

    test("but not for relationships that exist, nor for a diamond", async () => {
      const { engine } = opened();
      const diamond = [
        "team:y-top#member@team:y-left#member",
        "team:y-top#member@team:y-right#member",
        "team:y-left#member@team:y-end#member",
        "team:y-right#member@team:y-end#member",
      ];
      await touch(engine, ...diamond);
      await touch(engine, ...diamond);
      expect(await failure(write(engine, "CREATE", ...diamond))).toMatchObject({
        code: "ALREADY_EXISTS",
      });
    });

    test("a long path is abbreviated", async () => {
      const { engine } = opened();
      const chain = Array.from(
        { length: 30 },
        (_, index) => `team:y-l${index}#member@team:y-l${index + 1}#member`,
      );
      await touch(engine, ...chain);
      const closing = write(engine, "TOUCH", "team:y-l30#member@team:y-l0#member");
      expect(await failure(closing)).toMatchObject(
        refusal(/cycle: team:y-l30#member > team:y-l0#member > .* more … > .*team:y-l30#member$/),
      );
    });
  });
}
