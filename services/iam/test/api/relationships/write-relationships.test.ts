import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { relationship } from "../../rights/rights-engine.ts";
import { type Administration, administration, STORED, text } from "./administration.ts";

let service: Administration;
beforeAll(async () => {
  service = await administration(...STORED);
});
afterAll(() => service[Symbol.asyncDispose]());

const write = (body: unknown, user = "site-admin") =>
  service.call("writeRelationships", body, user);
const viewer = (id: string) => relationship(`project:site#viewer@user:${id}`);
const viewers = (count: number) => Array.from({ length: count }, (_, at) => viewer(`n${at}`));

const FILTER = { resourceType: "project", resourceId: "site" };
const precondition = (filter: object) => [
  { operation: "PRECONDITION_OPERATION_MUST_MATCH", filter },
];
const INVALID = "INVALID_ARGUMENT";

describe("a write is refused with", () => {
  const one = { relationships: [viewer("x")] };
  test.each([
    ["nothing", {}, INVALID, "relationships or deletions are required"],
    ["no resource", { relationships: [{}] }, INVALID, "relationships[0].resource"],
    [
      "no subject",
      { deletions: [viewer("x"), { ...viewer("y"), subject: undefined }] },
      INVALID,
      "deletions[1].subject",
    ],
    [
      "an unknown type",
      { relationships: [relationship("thing:a#owner@user:x")] },
      INVALID,
      "no type",
    ],
    [
      "a role that the type does not have [IAM-15]",
      { relationships: [{ ...viewer("x"), relation: "executor" }] },
      INVALID,
      "it has parent, owner, admin, developer, operator, viewer",
    ],
    [
      "a permission",
      { relationships: [{ ...viewer("x"), relation: "read" }] },
      INVALID,
      'no relation "read"',
    ],
    [
      "a subject that the relation does not accept",
      { relationships: [relationship("project:site#viewer@service:hub")] },
      INVALID,
      "allows user, group#member",
    ],
    ["a relationship twice", { relationships: [viewer("x"), viewer("x")] }, INVALID, "twice"],
    ["one in both lists", { ...one, deletions: [viewer("x")] }, INVALID, "twice"],
    ["more than 1,000", { relationships: viewers(1001) }, INVALID, "at most 1000"],
    [
      "a precondition of every resource",
      { ...one, preconditions: precondition({ resourceType: "project" }) },
      INVALID,
      "resource_id",
    ],
    ["a precondition without an operation", { ...one, preconditions: [{}] }, INVALID, "operation"],
    [
      "a precondition of what the caller may not see",
      {
        ...one,
        preconditions: precondition({
          resourceType: "zone",
          resourceId: "acme",
          relation: "owner",
        }),
      },
      "FORBIDDEN",
      "zone:acme",
    ],
    [
      "a precondition that does not hold",
      { ...one, preconditions: precondition({ ...FILTER, relation: "operator" }) },
      "FAILED_PRECONDITION",
      "precondition",
    ],
    [
      "one that the caller may not write",
      { relationships: [viewer("x"), relationship("project:other#viewer@user:x")] },
      "FORBIDDEN",
      "permission denied",
    ],
    [
      "an owner, by an admin",
      { relationships: [viewer("x"), relationship("project:site#owner@user:x")] },
      "FORBIDDEN",
      "permission denied",
    ],
    [
      "the parent of a group [IAM-8]",
      { relationships: [viewer("x"), relationship("group:eng#parent@group:secret")] },
      "FORBIDDEN",
      "MoveGroup",
    ],
  ])("%s", async (_, body, code, message) => {
    expect(await write(body)).toMatchObject({
      code,
      message: expect.stringContaining(message),
      records: [],
    });
    expect(await service.isStored("project:site#viewer@user:x")).toBe(false);
  });

  test("more preconditions than the engine takes, with those of the rules", async () => {
    const preconditions = Array.from({ length: 1000 }, (_, at) => {
      const subject = { subjectType: "user", subjectId: `u${at}` };
      return precondition({ ...FILTER, relation: "owner", ...subject })[0];
    });
    const { code } = await write({ relationships: [viewer("x")], preconditions });
    expect(code).toBe(INVALID);
  });
});

describe("a write [IAM-6]", () => {
  test("grants and revokes at once, and returns its revision", async () => {
    await write({ relationships: [viewer("a"), viewer("b")] });
    const deletions = [viewer("a"), viewer("nobody")];
    const { code, body } = await write({ relationships: [viewer("c")], deletions });
    expect(code).toBe("OK");
    const query = { ...FILTER, relation: "viewer", consistency: { atLeastAsFresh: body.revision } };
    const seen = await service.call("listRelationships", query, "site-admin");
    expect(seen.body.relationships.map(text)).toEqual([
      "project:site#viewer@group:secret#member",
      "project:site#viewer@user:b",
      "project:site#viewer@user:c",
    ]);
    await write({ deletions: [viewer("b"), viewer("c")] });
  });

  test("holds its preconditions", async () => {
    const preconditions = precondition({ ...FILTER, relation: "owner" });
    expect((await write({ relationships: [viewer("f")], preconditions })).code).toBe("OK");
    await write({ deletions: [viewer("f")] });
  });

  test("creates only what does not exist, if the mode says so", async () => {
    const body = { relationships: [viewer("d")], mode: "WRITE_MODE_CREATE" };
    expect((await write(body)).code).toBe("OK");
    expect((await write(body)).code).toBe("ALREADY_EXISTS");
    expect((await write({ ...body, mode: "WRITE_MODE_TOUCH" })).code).toBe("OK");
    await write({ deletions: [viewer("d")] });
  });

  test("takes a set in short, and as a type and a relation", async () => {
    const short = { ...viewer("e"), subject: { type: "group#member", id: "eng" } };
    const long = relationship("project:site#viewer@group:eng#member");
    expect((await write({ relationships: [short], deletions: [long] })).code).toBe(INVALID);
    expect((await write({ relationships: [short] })).code).toBe("OK");
    expect(await service.isStored("project:site#viewer@group:eng#member")).toBe(true);
    await write({ deletions: [long] });
  });

  test("of 1,000 relationships is recorded, each of them", async () => {
    const recorded = async (body: unknown) => {
      const { code, records } = await write(body);
      expect(code).toBe("OK");
      return records.flatMap(({ event, resource, details }) =>
        Object.values(details ?? {}).map((text) => [event, resource, text]),
      );
    };
    const all = viewers(1000);
    const expected = (event: string) => all.map((one) => [event, "project:site", text(one)]);
    expect(await recorded({ relationships: all })).toEqual(expected("relationships.written"));
    expect(await recorded({ deletions: all })).toEqual(expected("relationships.deleted"));
  });

  test("never names in an error what the caller may not see", async () => {
    await service.store(
      "group:lone#manager@user:lone-manager",
      "group:above#member@group:lone#member",
    );
    const cycle = relationship("group:lone#member@group:above#member");
    const { code, message } = await write({ relationships: [cycle] }, "lone-manager");
    expect([code, message]).toEqual(["FAILED_PRECONDITION", expect.not.stringContaining("above")]);
  });

  test("keeps the last user who owns a zone [IAM-10]", async () => {
    await service.store("zone:kept#owner@user:one", "zone:kept#owner@user:two");
    const remove = (id: string) =>
      write({ deletions: [relationship(`zone:kept#owner@user:${id}`)] }, "one");
    expect((await remove("two")).code).toBe("OK");
    expect(await remove("one")).toMatchObject({
      code: "FAILED_PRECONDITION",
      message: "this would remove the last enabled user who owns the zone kept",
    });
    const relationships = [relationship("zone:kept#owner@user:two")];
    const deletions = [relationship("zone:kept#owner@user:one")];
    expect((await write({ relationships, deletions }, "one")).code).toBe("OK");
  });
});
