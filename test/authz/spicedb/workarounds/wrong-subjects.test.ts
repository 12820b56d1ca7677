import { v1 } from "@authzed/authzed-node";
import { describe, expect, test } from "vitest";
import { spicedbIsAbsent } from "../../../support/spicedb.ts";
import { consistency, isAllowed, onceRight, withSpicedb } from "./raw-spicedb.ts";

/** Documents for which SpiceDB finds wrong subjects; see the tests. */
const SCHEMA = `use self
definition user {}
definition team {}
definition doc {
  relation owner: user | user:*
  relation banned: user
  relation place: doc | team
  permission plus = owner + self
  permission open = (owner - banned) + self
  permission minus = owner - self
  permission near = place->plus
  permission far = owner - place->plus
  permission each = place.all(owner)
  permission rest = owner - place.all(owner)
}`;
const STORED = [
  "doc:bob#owner@user:*",
  "doc:bob#banned@user:bob",
  "doc:amy#owner@user:amy",
  "doc:amy#owner@user:bob",
  "doc:low#place@doc:amy",
  "doc:top#place@doc:bob",
  "doc:two#place@doc:amy",
  "doc:two#place@team:amy",
  "doc:eve#owner@user:ann",
];

describe.skipIf(spicedbIsAbsent())("a raw SpiceDB", () => {
  const everyone = (...excluded: string[]) => ({ id: "*", excluded });
  const named = (id: string) => ({ id, excluded: [] });
  /** The users of a document that SpiceDB itself finds. */
  const users = (client: v1.ZedPromiseClientInterface, objectId: string, permission: string) =>
    client.lookupSubjects(
      v1.LookupSubjectsRequest.create({
        ...{ consistency, permission, subjectObjectType: "user" },
        resource: { objectType: "doc", objectId },
        wildcardOption: v1.LookupSubjectsRequest_WildcardOption.INCLUDE_WILDCARDS,
      }),
    );

  test("treats `self` as a subject of any type; here its subjects are checked", async () => {
    await withSpicedb(SCHEMA, STORED, async (engine, client) => {
      const lookup = (id: string, permission: string, subjectType = "user") =>
        engine.lookupSubjects({ resource: { type: "doc", id }, permission, subjectType });
      const found = async (...of: Parameters<typeof lookup>) => (await lookup(...of)).items;
      const raw = await users(client, "bob", "open");
      const all = raw.find(({ subject }) => subject?.subjectObjectId === "*");
      // Bob is banned.
      expect(all?.excludedSubjects, onceRight("wrong-subjects.ts")).toEqual([]);
      expect(await found("bob", "open")).toEqual([everyone("bob")]);

      expect(await found("eve", "plus")).toEqual([named("ann")]);
      expect(await found("eve", "plus", "doc")).toEqual([named("eve")]);
      expect(await found("amy", "minus")).toEqual([named("amy"), named("bob")]);
      expect(await found("bob", "minus")).toEqual([everyone(), named("bob")]);
      expect(await found("low", "near")).toEqual([named("amy"), named("bob")]);
      expect(await found("top", "near")).toEqual([everyone(), named("bob")]);
      // One place is not a document, and a team has no owner relation.
      expect(await found("two", "each")).toEqual([]);
      for (const permission of ["far", "rest"]) {
        await expect(lookup("eve", permission)).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
      }
    });
  });

  test("ignores a place without the permission in `.all`; its check does not", async () => {
    await withSpicedb(SCHEMA, STORED, async (_, client) => {
      const raw = await users(client, "two", "each");
      const ids = raw.map(({ subject }) => subject?.subjectObjectId).sort();
      expect(ids, onceRight("wrong-subjects.ts (its part about `.all`)")).toEqual(["amy", "bob"]);
      expect(await isAllowed(client, "doc:two#each@user:amy")).toBe(false);
    });
  });
});
