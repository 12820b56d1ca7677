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
        "a group in itself",
        [],
        ["group:y-own#member@group:y-own#member"],
        /cycle: group:y-own#member > group:y-own#member$/,
      ],
      [
        "groups",
        ["group:y-a#member@group:y-b#member", "group:y-b#member@group:y-c#member"],
        ["group:y-c#member@group:y-a#member"],
        /cycle: group:y-c#member > group:y-a#member > group:y-b#member > group:y-c#member$/,
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
          "group:y-1#member@group:y-2#member",
          "group:y-2#member@group:y-3#member",
          "group:y-3#member@group:y-1#member",
        ],
        /cycle: group:y-\d#member > /,
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
      await touch(engine, "group:y-x#member@group:y-y#member", "group:y-y#member@group:y-z#member");
      await engine.writeRelationships({
        updates: [
          ...updates("DELETE", "group:y-x#member@group:y-y#member"),
          ...updates("TOUCH", "group:y-z#member@group:y-x#member"),
        ],
      });
      expect(await allows(engine, "group:y-y#member@group:y-x#member")).toBe(true);
    });

    test("but not for relationships that exist, nor for a diamond", async () => {
      const { engine } = opened();
      const diamond = [
        "group:y-top#member@group:y-left#member",
        "group:y-top#member@group:y-right#member",
        "group:y-left#member@group:y-end#member",
        "group:y-right#member@group:y-end#member",
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
        (_, index) => `group:y-l${index}#member@group:y-l${index + 1}#member`,
      );
      await touch(engine, ...chain);
      const closing = write(engine, "TOUCH", "group:y-l30#member@group:y-l0#member");
      expect(await failure(closing)).toMatchObject(
        refusal(
          /cycle: group:y-l30#member > group:y-l0#member > .* more … > .*group:y-l30#member$/,
        ),
      );
    });
  });
}
