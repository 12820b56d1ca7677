/** Grants by which somebody keeps members away from a group, and who may delete them. */
import { describe, expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, updatesOf, write } from "./rights-engine.ts";
import { outcome, STORED, table } from "./rule-table.ts";

/** The owner of a project and of a group of their own grants both to the members of `eng`. */
const FROZEN = [
  ...STORED,
  "project:lone#owner@group:eng#member",
  "project:lone#admin@group:eng#member",
  "project:lone#developer@group:eng#member",
  "group:lair#owner@user:lone-owner",
  "group:lair#member@group:eng#member",
  "project:site#owner@group:lair#member",
  "group:high#member@group:eng#member",
  "zone:acme#admin@group:high#member",
  "group:seen#member@group:eng#member",
  "zone:acme#user_viewer@group:seen#member",
  "zone:other#owner@group:eng#member",
  "zone:other#owner@user:lone-owner",
];
const OWNER = "-project:lone#owner@group:eng#member";

describe("an owner or an admin that the members of a group hold is deleted by the group's permission administrators [IAM-7]", () => {
  table(
    [
      ["eng-padmin", OWNER, "written"],
      ["eng-owner", OWNER, "written"],
      ["padmin", OWNER, "written"],
      ["admin", OWNER, "written"],
      ["lone-owner", OWNER, "written"],
      ["eng-manager", OWNER, "FORBIDDEN"],
      ["umanager", OWNER, "FORBIDDEN"],
      ["gmanager", OWNER, "FORBIDDEN"],
      ["web-owner", OWNER, "FORBIDDEN"],
      ["site-admin", OWNER, "FORBIDDEN"],
      ["nobody", OWNER, "FORBIDDEN"],
      ["eng-padmin", "-project:lone#admin@group:eng#member", "written"],
      // A membership by which they hold one.
      ["eng-padmin", "-group:lair#member@group:eng#member", "written"],
      ["eng-manager", "-group:lair#member@group:eng#member", "FORBIDDEN"],
      [
        "eng-padmin",
        ["-group:lair#member@group:eng#member", OWNER, "group:eng#viewer@user:x"],
        "written",
      ],
    ],
    FROZEN,
  );
});

describe("they delete nothing else without a right to the object [IAM-7]", () => {
  table(
    [
      ["eng-padmin", "project:lone#owner@group:eng#member", "FORBIDDEN"],
      ["eng-padmin", "-project:lone#owner@user:lone-owner", "FORBIDDEN"],
      ["eng-padmin", "-project:lone#developer@group:eng#member", "FORBIDDEN"],
      ["eng-padmin", "-project:site#owner@group:lair#member", "FORBIDDEN"],
      ["eng-padmin", [OWNER, "-project:lone#owner@user:lone-owner"], "FORBIDDEN"],
      ["eng-padmin", [OWNER, "project:lone#viewer@user:eng-padmin"], "FORBIDDEN"],
      // The relations of a zone protect the accounts of the members.
      ["eng-padmin", "-zone:other#owner@group:eng#member", "FORBIDDEN"],
      ["owner", "-zone:other#owner@group:eng#member", "FORBIDDEN"],
      ["eng-padmin", "-group:high#member@group:eng#member", "FORBIDDEN"],
      ["padmin", "-group:high#member@group:eng#member", "FORBIDDEN"],
      ["admin", "-group:high#member@group:eng#member", "written"],
      ["eng-padmin", "-group:seen#member@group:eng#member", "FORBIDDEN"],
      ["padmin", "-group:seen#member@group:eng#member", "written"],
    ],
    FROZEN,
  );

  test("a release gives nobody anything", async () => {
    const taken = "project:lone#viewer@user:eng-padmin";
    expect(await outcome(FROZEN, "eng-padmin", OWNER, taken)).toBe("FORBIDDEN");
  });
});

test("members are added again once the grants that nobody of the group may write are deleted [IAM-7]", async () => {
  const mallory = { subjectType: "user", subjectId: "lone-owner" };
  await using engine = await iamEngine(...STORED);
  const rules = new RelationshipRules(engine);
  const signal = AbortSignal.timeout(60_000);
  const by = (user: string) => ({ subjectType: "user", subjectId: user });
  const add = updatesOf("group:eng#member@user:x");
  await expect(
    rules.assertMayWrite(mallory, updatesOf("project:lone#owner@group:eng#member"), signal),
  ).resolves.toBeDefined();
  await write(engine, "project:lone#owner@group:eng#member");
  for (const user of ["eng-manager", "owner"]) {
    await expect(rules.assertMayWrite(by(user), add, signal)).rejects.toThrow("may not grant");
  }
  await rules.assertMayWrite(by("eng-padmin"), updatesOf(OWNER), signal);
  await write(engine, OWNER);
  await expect(rules.assertMayWrite(by("eng-manager"), add, signal)).resolves.toBeDefined();
});
