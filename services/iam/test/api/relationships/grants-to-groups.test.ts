/** What was granted to a group, and may be deleted by those who administer its permissions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { relationship } from "../../rights/rights-engine.ts";
import { type Administration, administration, STORED, text } from "./administration.ts";

const PROJECTS = Array.from({ length: 9 }, (_, at) => `p${at}`);
const OWNED = PROJECTS.map((id) => `project:${id}#owner@group:eng#member`);

let service: Administration;
beforeAll(async () => {
  service = await administration(
    ...STORED,
    ...OWNED,
    ...PROJECTS.map((id) => `project:${id}#viewer@group:eng#member`),
    "project:p1#owner@user:mallory",
    "group:eng#permission_admin@user:eng-padmin",
    "group:eng#manager@user:eng-manager",
    "group:lair#member@group:eng#member",
    "zone:other#admin@group:eng#member",
  );
});
afterAll(() => service[Symbol.asyncDispose]());

const ENG = { type: "group", id: "eng", relation: "member" };
const list = (query: object, user: string) =>
  service.call("listRelationships", { resourceType: "project", subject: ENG, ...query }, user);

describe("a list of what a group was granted [IAM-7, IAM-11]", () => {
  test.each([
    ["another's group", { subject: { ...ENG, id: "secret" } }, "eng-padmin", "FORBIDDEN"],
    ["a group that does not exist", { subject: { ...ENG, id: "no" } }, "eng-padmin", "FORBIDDEN"],
    ["who manages the group only", {}, "eng-manager", "FORBIDDEN"],
    ["a member of the group", {}, "ed", "FORBIDDEN"],
    ["the owner of the object", {}, "mallory", "FORBIDDEN"],
    ["a user", { subject: { type: "user", id: "ed" } }, "root", "INVALID_ARGUMENT"],
    ["an unknown set", { subject: { ...ENG, relation: "nothing" } }, "root", "INVALID_ARGUMENT"],
    ["no id", { subject: { type: "group#member" } }, "root", "INVALID_ARGUMENT"],
    ["no type of resources", { resourceType: "" }, "root", "INVALID_ARGUMENT"],
    ["a token of another list", { pageToken: "x" }, "root", "INVALID_ARGUMENT"],
  ])("is refused with %s", async (_, query, user, code) => {
    expect((await list(query, user)).code).toBe(code);
  });

  test("has what its permission administrators may delete, on any object, and nothing else", async () => {
    const seen = async (query: object, user = "eng-padmin") =>
      (await list(query, user)).body.relationships.map(text);
    expect(await seen({})).toEqual(OWNED);
    expect(await seen({}, "padmin")).toEqual(OWNED);
    expect(await seen({ resourceId: "p3" })).toEqual(["project:p3#owner@group:eng#member"]);
    expect(await seen({ relation: "viewer" })).toEqual([]);
    expect(await seen({ resourceType: "zone" })).toEqual([]);
    expect(await seen({ resourceType: "group" })).toEqual(["group:lair#member@group:eng#member"]);
  });

  test.each([1, 2, 5, 18, 100])("has pages of %i that continue after writes", async (pageSize) => {
    const found: string[] = [];
    let pageToken = "";
    do {
      const { body } = await list({ pageSize, pageToken }, "eng-padmin");
      found.push(...body.relationships.map(text));
      pageToken = body.nextPageToken;
      await service.store(`project:noise#viewer@user:n${found.length}`);
    } while (pageToken !== "");
    expect(found).toEqual(OWNED);
  });

  test("can be deleted", async () => {
    await service.store("project:gone#owner@group:eng#member");
    const deletions = [relationship("project:gone#owner@group:eng#member")];
    expect((await service.call("writeRelationships", { deletions }, "eng-manager")).code).toBe(
      "FORBIDDEN",
    );
    expect((await service.call("writeRelationships", { deletions }, "eng-padmin")).code).toBe("OK");
    expect((await list({ resourceId: "gone" }, "eng-padmin")).body.relationships).toEqual([]);
  });
});
