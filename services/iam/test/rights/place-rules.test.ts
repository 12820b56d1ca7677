import { describe, expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, updatesOf } from "./rights-engine.ts";
import { outcome, STORED, table } from "./rule-table.ts";

describe("the place of an object [IAM-8]", () => {
  table([
    ["owner", "group:web#parent@group:board", "FORBIDDEN"],
    ["owner", "-group:web#parent@group:eng", "FORBIDDEN"],
    ["owner", "group:web#zone@zone:acme", "FORBIDDEN"],
    ["owner", "-group:web#zone@zone:acme", "FORBIDDEN"],
    [
      "one-owner",
      ["-project:site#parent@organization:one", "project:site#parent@organization:two"],
      "written",
    ],
    [
      "site-owner",
      ["-project:site#parent@organization:one", "project:site#parent@organization:two"],
      "FORBIDDEN",
    ],
    [
      "two-owner",
      ["-project:site#parent@organization:one", "project:site#parent@organization:two"],
      "FORBIDDEN",
    ],
    // Who is an admin of both would hand the project over to the owners of the other one.
    [
      "one-admin",
      ["-project:site#parent@organization:one", "project:site#parent@organization:two"],
      "FORBIDDEN",
    ],
    ["one-admin", "-project:site#parent@organization:one", "written"],
    ["site-owner", "-project:site#parent@organization:one", "FORBIDDEN"],
    ["lone-owner", "project:lone#parent@organization:two", "FORBIDDEN"],
    ["one-owner", "organization:one#zone@zone:other", "FORBIDDEN"],
    ["one-owner", "-organization:one#zone@zone:acme", "FORBIDDEN"],
  ]);
  test("it needs the right at the former place, also of whoever manages the object", async () => {
    const move = ["-project:site#parent@organization:one", "project:site#parent@organization:two"];
    const stored = [...STORED, "project:site#owner@user:two-owner"];
    expect(await outcome(stored, "two-owner", ...move)).toBe("FORBIDDEN");
    // Nor is a second place added without it.
    expect(await outcome(stored, "two-owner", move[1] as string)).toBe("FORBIDDEN");
    const both = [...stored, "organization:one#admin@user:two-owner"];
    expect(await outcome(both, "two-owner", ...move)).toBe("written");
  });

  test("it needs the right to manage the permissions of a zone", async () => {
    const stored = [...STORED, "zone:acme#permission_admin@user:one-owner"];
    expect(await outcome(stored, "one-owner", "-organization:one#zone@zone:acme")).toBe("written");
  });
  test("an object that is deleted meanwhile is not made again", async () => {
    await using engine = await iamEngine(...STORED);
    const rules = new RelationshipRules(engine);
    const caller = { subjectType: "user", subjectId: "lone-owner" };
    const updates = updatesOf("project:lone#admin@user:lone-owner");
    const { preconditions } = await rules.assertMayWrite(
      caller,
      updates,
      AbortSignal.timeout(60_000),
    );
    await engine.writeRelationships({ updates: updatesOf("-project:lone#owner@user:lone-owner") });
    const write = engine.writeRelationships({ updates, preconditions });
    await expect(write).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  });

  test("a place that is changed meanwhile is not changed again", async () => {
    await using engine = await iamEngine(...STORED);
    const rules = new RelationshipRules(engine);
    const caller = { subjectType: "user", subjectId: "one-owner" };
    const updates = updatesOf(
      "-project:site#parent@organization:one",
      "project:site#parent@organization:two",
    );
    const { preconditions } = await rules.assertMayWrite(
      caller,
      updates,
      AbortSignal.timeout(60_000),
    );
    await engine.writeRelationships({
      updates: updatesOf("-project:site#parent@organization:one"),
    });
    const write = engine.writeRelationships({ updates, preconditions });
    await expect(write).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  });

  test("an object that no relationship names is not made", async () => {
    const add = "project:new#owner@user:owner";
    expect(await outcome(STORED, "owner", add)).toBe("FORBIDDEN");
    expect(await outcome(STORED, "owner", add, "project:new#parent@organization:one")).toBe(
      "FORBIDDEN",
    );
  });
});
