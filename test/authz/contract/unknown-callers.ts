import { describe, expect, test } from "vitest";
import { touch } from "./calls.ts";
import { request } from "./schema.ts";
import type { Opened } from "./target.ts";

/** Callers of types that the model does not have: the schema of the contract has users only. */
export function unknownCallersContract(opened: Opened): void {
  describe.each(["service_account", "service"])("a %s, which the model does not have", (type) => {
    const asked = (id: string) => request(`document:${id}#view@${type}:robot`);
    const anyOf = { resourceType: "document", permission: "view" };

    test("holds nothing, also not what everybody of another type holds [AUTHZ-8]", async () => {
      const { engine } = opened();
      const id = `u-${type}`;
      await touch(engine, `document:${id}#viewer@user:*`, `document:${id}#viewer@user:robot`);
      const { allowed, revision } = await engine.check(asked(id));
      expect(allowed).toBe(false);
      expect((await engine.check(asked(id), { atLeastAsFresh: revision })).allowed).toBe(false);
      expect(engine.checkNow?.(asked(id)).allowed ?? false).toBe(false);
      const robot = request(`document:${id}#view@user:robot`);
      expect((await engine.checkBulk([asked(id), robot, asked("none")])).items).toEqual([
        { allowed: false },
        { allowed: true },
        { allowed: false },
      ]);
      expect((await engine.checkBulk([asked(id)])).items).toEqual([{ allowed: false }]);
    });

    test("gets empty lists, of the state that was asked for [AUTHZ-8]", async () => {
      const { engine } = opened();
      const { subject } = asked("x");
      const { allowed, revision } = await engine.checkAny({ ...anyOf, subject });
      expect(allowed).toBe(false);
      const page = await engine.lookupResources(
        { ...anyOf, subject },
        { atLeastAsFresh: revision },
      );
      expect(page.items).toEqual([]);
      expect(page.nextCursor).toBeUndefined();
      expect(page.revision).not.toBe("");
    });

    test("gets an explanation of what was tried", async () => {
      const { engine } = opened();
      const id = `u-why-${type}`;
      await touch(
        engine,
        `document:${id}#viewer@team:u-why#member`,
        "team:u-why#member@user:robot",
        `document:${id}#folder@folder:u-why`,
        "folder:u-why#viewer@user:robot",
      );
      const { allowed, explanation } = await engine.explain(asked(id));
      expect(allowed).toBe(false);
      expect(explanation).toMatchObject({ kind: "union", allowed: false });
      expect(explanation.children.map(({ kind }) => kind)).toEqual(["exclusion", "arrow"]);
    });

    test("is not a subject of relationships and usersets", async () => {
      const { engine } = opened();
      const refused = { code: "INVALID_ARGUMENT", message: expect.stringContaining("no type") };
      await expect(touch(engine, `document:u-w#viewer@${type}:robot`)).rejects.toMatchObject(
        refused,
      );
      const userset = request(`document:u-w#view@${type}:robot#member`);
      await expect(engine.check(userset)).rejects.toMatchObject(refused);
    });
  });
}
