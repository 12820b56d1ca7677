import { afterAll, describe, expect, test } from "vitest";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import { allows, failure, touch, write } from "./calls.ts";
import { request } from "./schema.ts";
import type { Differences, Opened } from "./target.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64url");
const asked = request("document:t-a#view@user:t-x");

/** Revision tokens and cursors: what they pin, and where they are invalid. */
export function tokensContract(opened: Opened, { cursorAfterWrite }: Differences): void {
  const calls = (engine: AuthorizationEngine, atLeastAsFresh: string) => {
    const options = { atLeastAsFresh };
    const { subject, permission, resource } = asked;
    return [
      engine.check(asked, options),
      engine.checkBulk([asked], options),
      engine.explain(asked, options),
      engine.lookupResources({ resourceType: "document", permission, subject }, options),
      engine.lookupSubjects({ resource, permission, subjectType: "user" }, options),
      engine.readRelationships({ resourceType: "document" }, {}, options),
      engine.readRelationships({}, {}, options),
    ];
  };

  describe("revision tokens", () => {
    test("from every call are valid in every call", async () => {
      const { engine } = opened();
      const { revision } = await write(engine, "TOUCH", "document:t-a#viewer@user:t-x");
      expect(await allows(engine, "document:t-a#view@user:t-x", { atLeastAsFresh: revision })).toBe(
        true,
      );
      for (const answer of await Promise.all(calls(engine, revision))) {
        expect(answer.revision).not.toBe("");
        await Promise.all(calls(engine, answer.revision));
      }
    });

    test.each([
      ["empty", ""],
      ["not a token", "nonsense"],
      ["of another version", base64("9:embedded:1:x")],
      ["of the embedded engine, truncated", base64("1:embedded:")],
      ["of SpiceDB, without a ZedToken", base64("1:spicedb:")],
      ["of SpiceDB, with an invalid ZedToken", base64("1:spicedb:nonsense")],
      ["not a string", 7 as never],
    ])("that are malformed are refused by every call: %s", async (_, token) => {
      for (const call of calls(opened().engine, token)) {
        expect(await failure(call)).toMatchObject({
          name: "AuthzError",
          code: "INVALID_ARGUMENT",
          message: expect.stringContaining("revision token"),
        });
      }
      const next = opened().engine.watch(token)[Symbol.asyncIterator]().next();
      expect(await failure(next)).toMatchObject({ code: "INVALID_ARGUMENT" });
    });

    test("with trailing characters are refused", async () => {
      const { engine } = opened();
      const { revision } = await engine.check(asked);
      for (const token of [`${revision}!`, ` ${revision}`, revision.slice(0, -2)]) {
        const call = engine.check(asked, { atLeastAsFresh: token });
        expect(await failure(call), token).toMatchObject({ code: "INVALID_ARGUMENT" });
      }
    });
  });

  describe("cursors", () => {
    const lookup = { ...asked, resourceType: "document", pageSize: 1 };
    const subjects = { ...asked, subjectType: "user", pageSize: 1 };
    const filter = { resourceType: "document", resourceId: "t-a" };
    let other: AuthorizationEngine | undefined;
    afterAll(() => other?.close());

    const fill = () =>
      touch(
        opened().engine,
        "document:t-a#viewer@user:t-x",
        "document:t-b#viewer@user:t-x",
        "document:t-a#viewer@user:t-y",
      );

    test("are valid only for their own request", async () => {
      const { engine } = opened();
      await fill();
      const refusal = {
        name: "AuthzError",
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("another request"),
      };
      const cursorOf = async (page: Promise<{ nextCursor?: string }>) =>
        (await page).nextCursor ?? "none";
      const resource = await cursorOf(engine.lookupResources(lookup));
      const subject = await cursorOf(engine.lookupSubjects(subjects));
      const relationship = await cursorOf(engine.readRelationships(filter, { pageSize: 1 }));
      const all = await cursorOf(engine.readRelationships({}, { pageSize: 1 }));
      const calls = {
        permission: () =>
          engine.lookupResources({ ...lookup, permission: "viewer", cursor: resource }),
        subject: () =>
          engine.lookupResources({
            ...lookup,
            subject: { type: "user", id: "t-y" },
            cursor: resource,
          }),
        call: () => engine.lookupSubjects({ ...subjects, cursor: resource }),
        resource: () =>
          engine.lookupSubjects({
            ...subjects,
            resource: { type: "document", id: "t-b" },
            cursor: subject,
          }),
        relationships: () => engine.lookupResources({ ...lookup, cursor: relationship }),
        filter: () =>
          engine.readRelationships({ resourceType: "document" }, { cursor: relationship }),
        all: () => engine.readRelationships({}, { cursor: relationship }),
        some: () => engine.readRelationships(filter, { cursor: all }),
      };
      for (const [what, call] of Object.entries(calls)) {
        expect(await failure(call()), what).toMatchObject(refusal);
      }
      // The page size may change.
      const rest = await engine.lookupSubjects({ ...subjects, pageSize: 9, cursor: subject });
      expect(rest.items).toEqual([{ id: "t-y", excluded: [] }]);
    });

    test("pin their revision, or are refused after a write", async () => {
      const { engine } = opened();
      await fill();
      const first = await engine.lookupResources(lookup);
      const cursor = first.nextCursor ?? "";
      await touch(engine, "document:t-0#viewer@user:t-x", "document:t-bb#viewer@user:t-x");
      const second = await failure(engine.lookupResources({ ...lookup, cursor, pageSize: 1000 }));
      await write(
        engine,
        "DELETE",
        "document:t-0#viewer@user:t-x",
        "document:t-bb#viewer@user:t-x",
      );
      if (cursorAfterWrite === "OUT_OF_RANGE") {
        expect(second).toMatchObject({ name: "AuthzError", code: "OUT_OF_RANGE" });
      } else {
        const { items } = second as { items: string[] };
        expect(items).toContain("t-b");
        expect(items).not.toContain("t-bb");
      }
    });
  });
}
