import { describe, expect, test } from "vitest";
import { lookupMayBeWrong } from "../../../../src/authz/spicedb/workarounds/wrong-resources.ts";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { modelOf, request } from "../fixture.ts";
import { onceRight, resources, withSpicedb } from "./raw-spicedb.ts";

const FOLDERS = `use self
definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation owner: user
  relation banned: user | group#member
  permission manage = owner
  permission view = parent->view + manage
  permission shut = parent->view + banned
`;
const folders = (...permissions: string[]) =>
  `${FOLDERS}${permissions.map((permission) => `  permission ${permission}\n`).join("")}}\n`;

describe("a lookup that SpiceDB may answer wrongly is detected", () => {
  test.each<[mayBeWrong: boolean, permission: string]>([
    [true, "asked = parent.all(view)"],
    [true, "asked = parent->view - parent->shut"],
    [true, "asked = parent->view & parent->shut"],
    [true, "asked = owner & parent->view"],
    [true, "asked = owner & self"],
    [true, "asked = self - owner"],
    [true, "asked = (owner + self) - banned"],
    [true, "asked = parent.all(view) + self"],
    [false, "asked = owner + self"],
    [false, "asked = parent->view + parent->shut"],
    [false, "asked = parent.all(owner)"],
    [false, "asked = (owner + parent->asked) - banned"],
    [false, "asked = parent->view - banned"],
    [false, "asked = banned & parent->view"],
    [false, "asked = owner & nil"],
  ])("%s: %s", (mayBeWrong, permission) => {
    expect(lookupMayBeWrong(modelOf(folders(permission)), "folder", "asked")).toBe(mayBeWrong);
  });

  test("also through another type, but not for permissions that do not lead to it", () => {
    const model = modelOf(`${folders("asked = parent.all(view)")}
definition doc {
  relation place: folder
  permission read = place->asked
  permission list = place->view
}`);
    expect(lookupMayBeWrong(model, "doc", "read")).toBe(true);
    expect(lookupMayBeWrong(model, "doc", "list")).toBe(false);
    expect(lookupMayBeWrong(model, "folder", "view")).toBe(false);
  });
});

describe.skipIf(spicedbIsAbsent())("a raw SpiceDB", () => {
  // The result depends on which branch answers first, so each is tried a few times.
  const TRIES = [0, 1, 2, 3, 4];

  test("lists a resource that its check denies; here neither lookups nor checkAny do", async () => {
    const stored = TRIES.flatMap((n) => [
      `folder:low${n}#parent@folder:mid${n}`,
      `folder:mid${n}#owner@user:u${n}`,
      `folder:mid${n}#banned@group:one${n}#member`,
      `group:one${n}#member@group:two${n}#member`,
      `group:two${n}#member@group:three${n}#member`,
      `group:three${n}#member@user:u${n}`,
    ]);
    const schema = folders("asked = parent->view - parent->shut");
    await withSpicedb(schema, stored, async (engine, client) => {
      const wrong: string[] = [];
      for (const n of TRIES) {
        const asked = request(`folder:low${n}#asked@user:u${n}`);
        expect(await engine.check(asked)).toMatchObject({ allowed: false });
        wrong.push(...(await resources(client, `folder:x#asked@user:u${n}`)));
        const lookup = { ...asked, resourceType: "folder" };
        expect((await engine.lookupResources(lookup)).items).toEqual([]);
        expect((await engine.checkAny(lookup)).allowed).toBe(false);
      }
      expect(wrong, onceRight("wrong-resources.ts")).not.toEqual([]);
    });
  });

  test("omits resources that its check allows; here all are listed, in pages", async () => {
    const stored = TRIES.flatMap((n) => [
      `folder:one${n}#parent@folder:top${n}`,
      `folder:two${n}#parent@folder:one${n}`,
      `folder:six${n}#parent@folder:two${n}`,
      `folder:top${n}#owner@user:u${n}`,
    ]);
    await withSpicedb(folders("asked = parent.all(view)"), stored, async (engine, client) => {
      let missing = 0;
      for (const n of TRIES) {
        const all = [`one${n}`, `six${n}`, `two${n}`];
        missing += 3 - (await resources(client, `folder:x#asked@user:u${n}`)).length;
        const subject = { type: "user", id: `u${n}` };
        const lookup = { resourceType: "folder", permission: "asked", subject, pageSize: 2 };
        const first = await engine.lookupResources(lookup);
        expect(first.items).toEqual(all.slice(0, 2));
        const second = await engine.lookupResources({ ...lookup, cursor: first.nextCursor ?? "" });
        expect(second.items).toEqual(all.slice(2));
        expect((await engine.checkAny(lookup)).allowed).toBe(true);
      }
      expect(missing, onceRight("wrong-resources.ts")).toBeGreaterThan(0);
    });
  });

  test("fails to look up resources over `self`; here they are checked", async () => {
    const schema = folders("asked = self - banned");
    await withSpicedb(schema, ["folder:one#owner@user:ann"], async (engine, client) => {
      const text = "folder:x#asked@folder:new";
      const raw = await resources(client, text).catch((error: Error) => error.message);
      expect(raw, onceRight("wrong-resources.ts")).toMatch(/SELF_ENTRYPOINT/);
      const { permission, subject } = request(text);
      const lookup = { resourceType: "folder", permission, subject };
      expect((await engine.lookupResources(lookup)).items).toEqual(["new"]);
    });
  });
});
