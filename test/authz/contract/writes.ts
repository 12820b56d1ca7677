import { describe, expect, test } from "vitest";
import { allows, failure, touch, write } from "./calls.ts";
import { updates } from "./schema.ts";
import type { Differences, Opened } from "./target.ts";

/** writeRelationships: valid writes, and refusals because of what is stored. */
export function writesContract(opened: Opened, { ordersConcurrentWrites }: Differences): void {
  describe("writes", () => {
    const stored = async (resourceId: string) =>
      (await opened().engine.readRelationships({ resourceType: "document", resourceId })).items
        .length;

    test("TOUCH is idempotent, and DELETE of nothing does nothing", async () => {
      const { engine } = opened();
      await touch(engine, "document:w-one#viewer@user:x");
      await touch(engine, "document:w-one#viewer@user:x");
      expect(await stored("w-one")).toBe(1);
      await write(engine, "DELETE", "document:w-one#viewer@user:nobody");
      expect(await stored("w-one")).toBe(1);
      await write(engine, "DELETE", "document:w-one#viewer@user:x");
      await write(engine, "DELETE", "document:w-one#viewer@user:x");
      expect(await stored("w-one")).toBe(0);
      expect(await allows(engine, "document:w-one#view@user:x")).toBe(false);
    });

    test("CREATE refuses the whole write if the relationship exists", async () => {
      const { engine } = opened();
      await write(engine, "CREATE", "document:w-new#viewer@user:x");
      const again = [
        ...updates("TOUCH", "document:w-new#viewer@user:y"),
        ...updates("CREATE", "document:w-new#viewer@user:x"),
      ];
      expect(await failure(engine.writeRelationships({ updates: again }))).toMatchObject({
        name: "AuthzError",
        code: "ALREADY_EXISTS",
        message: expect.stringMatching(/document:w-new#viewer@user:x/),
      });
      expect(await stored("w-new")).toBe(1);
      await write(engine, "DELETE", "document:w-new#viewer@user:x");
      await write(engine, "CREATE", "document:w-new#viewer@user:x");
      expect(await stored("w-new")).toBe(1);
    });

    test("with all operations are atomic [ENG-4]", async () => {
      const { engine } = opened();
      await touch(engine, "document:w-mix#viewer@user:old");
      await engine.writeRelationships({
        updates: [
          ...updates("DELETE", "document:w-mix#viewer@user:old"),
          ...updates("CREATE", "document:w-mix#viewer@user:new"),
          ...updates("TOUCH", "document:w-mix#banned@user:old"),
        ],
      });
      expect(await allows(engine, "document:w-mix#view@user:old")).toBe(false);
      expect(await allows(engine, "document:w-mix#view@user:new")).toBe(true);
    });

    test("happen only if their preconditions hold", async () => {
      const { engine } = opened();
      await touch(engine, "document:w-pre#viewer@user:x");
      const filters = {
        present: { resourceType: "document", resourceId: "w-pre", relation: "viewer" },
        absent: { resourceType: "document", resourceId: "w-pre", relation: "banned" },
        subject: { resourceType: "document", subject: { type: "user", id: "w-nobody" } },
      };
      for (const [kind, filter, code] of [
        ["MUST_MATCH", filters.present, undefined],
        ["MUST_MATCH", filters.absent, "FAILED_PRECONDITION"],
        ["MUST_MATCH", filters.subject, "FAILED_PRECONDITION"],
        ["MUST_NOT_MATCH", filters.absent, undefined],
        ["MUST_NOT_MATCH", filters.subject, undefined],
        ["MUST_NOT_MATCH", filters.present, "FAILED_PRECONDITION"],
      ] as const) {
        const text = "document:w-pre#approver@user:x";
        await write(engine, "DELETE", text);
        const outcome = await failure(
          engine.writeRelationships({
            updates: updates("TOUCH", text),
            preconditions: [{ kind, filter }],
          }),
        );
        const expected = code === undefined ? { revision: expect.any(String) } : { code };
        expect(outcome, `${kind} ${JSON.stringify(filter)}`).toMatchObject(expected);
        expect(await stored("w-pre")).toBe(code === undefined ? 2 : 1);
      }
    });

    test("a failed precondition is reported before a CREATE of what exists", async () => {
      const { engine } = opened();
      await touch(engine, "document:w-both#viewer@user:x");
      const filter = { resourceType: "document", resourceId: "w-both" };
      const both = {
        updates: updates("CREATE", "document:w-both#viewer@user:x"),
        preconditions: [{ kind: "MUST_NOT_MATCH", filter } as const],
      };
      expect(await failure(engine.writeRelationships(both))).toMatchObject({
        code: "FAILED_PRECONDITION",
      });
    });

    test("a failed precondition is reported before a cycle, and before what exists", async () => {
      const { engine } = opened();
      await touch(engine, "document:w-all#viewer@user:x");
      const filter = { resourceType: "document", resourceId: "w-all" };
      const all = (kind: "MUST_MATCH" | "MUST_NOT_MATCH") => ({
        updates: [
          ...updates("TOUCH", "team:w-all#member@team:w-all#member"),
          ...updates("CREATE", "document:w-all#viewer@user:x"),
        ],
        preconditions: [{ kind, filter }],
      });
      expect(await failure(engine.writeRelationships(all("MUST_NOT_MATCH")))).toMatchObject({
        code: "FAILED_PRECONDITION",
        message: expect.stringMatching(/^the precondition MUST_NOT_MATCH .* does not hold$/),
      });
      expect(await failure(engine.writeRelationships(all("MUST_MATCH")))).toMatchObject({
        code: "ALREADY_EXISTS",
      });
    });

    test("1,000 updates and 1,000 preconditions are accepted", async () => {
      const { engine } = opened();
      const texts = Array.from({ length: 1000 }, (_, index) => `team:w-many#member@user:u${index}`);
      const preconditions = texts.map((_, index) => ({
        kind: "MUST_NOT_MATCH" as const,
        filter: { resourceType: "document", resourceId: `w-no${index}` },
      }));
      await engine.writeRelationships({ updates: updates("TOUCH", ...texts), preconditions });
      expect(await allows(engine, "team:w-many#member@user:u999")).toBe(true);
    });

    test("that are concurrent each see what was acknowledged before they began [ENG-7]", async () => {
      const { engine } = opened();
      await Promise.all(
        Array.from({ length: ordersConcurrentWrites ? 8 : 1 }, async (_, writer) => {
          for (let round = 0; round < 10; round++) {
            const text = `document:w-at${writer}#viewer@user:r${round}`;
            await write(engine, "TOUCH", text);
            expect(await allows(engine, text)).toBe(true);
            await write(engine, "DELETE", text);
            expect(await allows(engine, text)).toBe(false);
          }
        }),
      );
    });
  });
}
