import { describe, expect, test } from "vitest";
import type { FoundSubject } from "../../../src/authz/engine/requests.ts";
import type { SubjectReference } from "../../../src/model/relationship.ts";
import { allows, pages, touch } from "./calls.ts";
import { request } from "./schema.ts";
import type { Opened } from "./target.ts";

const PAGE_SIZES = [1, 2, 1000];
const IDS = ["l.0", "l.1", "l.2", "l.3", "l.4"];

/** lookupResources and lookupSubjects: exactly what checks allow, in pages of any size. */
export function lookupsContract(opened: Opened): void {
  const resources = (permission: string, subject: SubjectReference, pageSize: number) =>
    pages((page) =>
      opened().engine.lookupResources({
        ...{ resourceType: "document", permission, subject, pageSize },
        ...page,
      }),
    );
  const subjects = (id: string, permission: string, pageSize: number, relation?: string) =>
    pages((page) =>
      opened().engine.lookupSubjects({
        ...{ resource: { type: "document", id }, permission, pageSize },
        ...(relation === undefined
          ? { subjectType: "user" }
          : { subjectType: "team", subjectRelation: relation }),
        ...page,
      }),
    );
  const fill = () =>
    touch(
      opened().engine,
      "team:l-g#member@user:l-ann",
      "team:l-g#member@user:l-bob",
      "team:l-all#member@team:l-g#member",
      "folder:l-f#viewer@team:l-all#member",
      "document:l.0#folder@folder:l-f",
      "document:l.1#viewer@user:l-ann",
      "document:l.1#viewer@team:l-g#member",
      "document:l.2#viewer@user:*",
      "document:l.2#banned@user:l-bob",
      "document:l.2#banned@user:l-eve.1",
      "document:l.2#viewer@user:l-ann",
      "document:l.3#viewer@team:l-all#member",
      "document:l.3#banned@user:l-ann",
      "document:l.3#approver@user:l-bob",
      "document:l.4#viewer@user:*",
      "document:l.4#folder@folder:l-f",
      "document:l.4#banned@user:l-bob",
    );

  describe("lookups", () => {
    test("of resources return exactly what checks allow, sorted, each once, in full pages", async () => {
      const { engine } = opened();
      await fill();
      for (const text of [
        "user:l-ann",
        "user:l-bob",
        "user:l-eve.1",
        "user:l-new",
        "team:l-g#member",
      ]) {
        for (const permission of ["view", "viewer", "publish"]) {
          const { subject } = request(`document:x#view@${text}`);
          const held: string[] = [];
          for (const id of IDS) {
            if (await allows(engine, `document:${id}#${permission}@${text}`)) held.push(id);
          }
          for (const pageSize of PAGE_SIZES) {
            const found = await resources(permission, subject, pageSize);
            // Other tests write wildcards and other documents.
            const known = found.flat().filter((id) => IDS.includes(id));
            expect(known, `${permission} of ${text}`).toEqual(held);
            expect(found.flat()).toEqual([...new Set(found.flat())].sort());
            expect(found.slice(0, -1).every((page) => page.length === pageSize)).toBe(true);
          }
        }
      }
    });

    test("of subjects are sorted, each once, wildcards with their excluded subjects", async () => {
      await fill();
      const none: string[] = [];
      const expected: [string, string, FoundSubject[]][] = [
        ["l.0", "view", ["l-ann", "l-bob"].map((id) => ({ id, excluded: none }))],
        ["l.1", "view", ["l-ann", "l-bob"].map((id) => ({ id, excluded: none }))],
        [
          "l.2",
          "view",
          [
            { id: "*", excluded: ["l-bob", "l-eve.1"] },
            { id: "l-ann", excluded: none },
          ],
        ],
        ["l.3", "view", [{ id: "l-bob", excluded: none }]],
        ["l.3", "publish", [{ id: "l-bob", excluded: none }]],
        ["l.none", "view", []],
      ];
      for (const [id, permission, found] of expected) {
        for (const pageSize of PAGE_SIZES) {
          const inPages = await subjects(id, permission, pageSize);
          expect(inPages.flat(), `${permission} on ${id}`).toEqual(found);
          expect(inPages.slice(0, -1).every((page) => page.length === pageSize)).toBe(true);
        }
      }
    });

    test("of subjects agree with a check of each subject", async () => {
      const { engine } = opened();
      await fill();
      for (const id of IDS) {
        for (const permission of ["view", "viewer", "publish"]) {
          const found = (await subjects(id, permission, 2)).flat();
          const all = found.find(({ id }) => id === "*");
          for (const user of ["l-ann", "l-bob", "l-eve.1", "l-new"]) {
            const named = found.some(({ id }) => id === user);
            const held = named || (all !== undefined && !all.excluded.includes(user));
            const text = `document:${id}#${permission}@user:${user}`;
            expect(held, text).toBe(await allows(engine, text));
          }
        }
      }
    });

    test("of usersets find usersets", async () => {
      await fill();
      const found = (await subjects("l.3", "view", 1, "member")).flat().map(({ id }) => id);
      expect(found).toEqual(["l-all", "l-g"]);
    });

    test("of more than one page are complete", async () => {
      const { engine } = opened();
      const ids = Array.from({ length: 2100 }, (_, index) => `m${String(index).padStart(4, "0")}`);
      await touch(engine, ...ids.map((id) => `document:${id}#approver@user:l-many`));
      const found = await resources("approver", { type: "user", id: "l-many" }, 1000);
      expect(found.map(({ length }) => length)).toEqual([1000, 1000, 100]);
      expect(found.flat()).toEqual(ids);
      await touch(engine, ...ids.map((id) => `document:l-many#approver@user:${id}`));
      const users = await subjects("l-many", "approver", 1000);
      expect(users.flat().map(({ id }) => id)).toEqual(ids);
    });
  });
}
