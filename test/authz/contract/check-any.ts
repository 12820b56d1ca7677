import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CheckAnyRequest } from "../../../src/authz/engine/requests.ts";
import { subjectOf } from "../embedded/engine-of.ts";
import { failure, touch, write } from "./calls.ts";
import type { Opened } from "./target.ts";

const SUBJECTS = [
  "user:any-ann",
  "user:any-bob",
  "user:any-new",
  "team:any-g#member",
  "team:any-h#member",
  "folder:any-f",
];
const PERMISSIONS: readonly (readonly [type: string, permission: string])[] = [
  ...["viewer", "view", "publish", "approver", "banned"].map((name) => ["document", name] as const),
  ...["viewer", "view"].map((name) => ["folder", name] as const),
  ["team", "member"],
];
const RELATIONSHIPS = [
  "team:any-g#member@user:any-ann",
  "team:any-h#member@team:any-g#member",
  "folder:any-f#viewer@team:any-h#member",
  "document:any-d#folder@folder:any-f",
  "document:any-d#banned@user:any-ann",
  "document:any-e#viewer@user:any-ann",
  "document:any-e#approver@user:any-ann",
  "document:any-e#banned@user:any-ann",
  "document:any-d#viewer@user:any-bob",
  "document:any-d#approver@user:any-bob",
];

/** checkAny: whether lookupResources would find anything. */
export function checkAnyContract(opened: Opened): void {
  const asked = (permission: string, subject: string, resourceType = "document") => ({
    resourceType,
    permission,
    subject: subjectOf(subject),
  });
  const finds = async (request: CheckAnyRequest) =>
    (await opened().engine.lookupResources({ ...request, pageSize: 1 })).items.length > 0;

  describe("checkAny", () => {
    test("allows exactly if lookupResources finds something", async () => {
      const { engine } = opened();
      const arbitraryState = fc.subarray(RELATIONSHIPS, { minLength: 1 });
      await fc.assert(
        fc.asyncProperty(arbitraryState, async (relationships) => {
          const gone = RELATIONSHIPS.filter((text) => !relationships.includes(text));
          if (gone.length > 0) await write(engine, "DELETE", ...gone);
          await touch(engine, ...relationships);
          for (const subject of SUBJECTS) {
            for (const [type, permission] of PERMISSIONS) {
              const request = asked(permission, subject, type);
              const { allowed } = await engine.checkAny(request);
              expect(allowed, JSON.stringify(request)).toBe(await finds(request));
            }
          }
        }),
        { numRuns: 5 },
      );
    });

    test("denies a user who may access nothing", async () => {
      const { engine } = opened();
      const { allowed, revision } = await engine.checkAny(asked("approver", "user:any-nobody"));
      expect(allowed).toBe(false);
      await engine.checkAny(asked("approver", "user:any-nobody"), { atLeastAsFresh: revision });
    });

    test("considers wildcards and exclusions", async () => {
      const { engine } = opened();
      await touch(engine, "document:any-w#viewer@user:*");
      expect((await engine.checkAny(asked("view", "user:any-stranger"))).allowed).toBe(true);
      const filter = { relation: "viewer", subject: { type: "user", id: "*" } };
      const { items } = await engine.readRelationships({ resourceType: "document", ...filter });
      const viewers = items.map(
        ({ resource }) => `document:${resource.id}#banned@user:any-stranger`,
      );
      await touch(engine, ...viewers);
      expect((await engine.checkAny(asked("view", "user:any-stranger"))).allowed).toBe(false);
    });

    test("finds the only allowed object among many", async () => {
      const { engine } = opened();
      const ids = Array.from({ length: 300 }, (_, index) => `document:any-m${index}`);
      const subject = "user:any-many";
      await touch(engine, ...ids.map((id) => `${id}#viewer@${subject}`));
      expect((await engine.checkAny(asked("publish", subject))).allowed).toBe(false);
      await touch(engine, `document:any-m7#approver@${subject}`);
      expect((await engine.checkAny(asked("publish", subject))).allowed).toBe(true);
    });

    test.each([
      [asked("nope", "user:x"), /no relation or permission "nope"/],
      [asked("view", "user:x", "nope"), /no type "nope"/],
      [asked("view", "nope:x"), /no type "nope"/],
      [asked("view", "user:*"), /wildcard cannot be the subject/],
      [asked("view", "user:a b"), /subject id "a b"/],
      [asked("view", "team:x#nope"), /no relation or permission "nope"/],
      [{ ...asked("view", "user:x"), subject: undefined as never }, /subject is missing/],
    ])("refuses %j", async (request, message) => {
      expect(await failure(opened().engine.checkAny(request))).toMatchObject({
        name: "AuthzError",
        code: "INVALID_ARGUMENT",
        message: expect.stringMatching(message),
      });
    });
  });
}
