import { describe, expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, updatesOf } from "./rights-engine.ts";

/** A zone with two groups, a project and a skill; the name of each person is what they hold. */
const STORED = [
  "zone:acme#owner@user:owner",
  "zone:acme#admin@user:admin",
  "zone:acme#permission_admin@user:padmin",
  "zone:acme#user_manager@user:umanager",
  "zone:acme#group_manager@user:gmanager",
  "zone:acme#owner@group:board#member",
  "group:board#zone@zone:acme",
  "group:board#member@user:chair",
  "group:eng#zone@zone:acme",
  "group:eng#owner@user:eng-owner",
  "group:eng#manager@user:eng-manager",
  "group:eng#permission_admin@user:eng-padmin",
  "group:web#zone@zone:acme",
  "group:web#parent@group:eng",
  "group:web#owner@user:web-owner",
  "group:web#manager@user:web-manager",
  "organization:one#zone@zone:acme",
  "organization:one#owner@user:one-owner",
  "organization:one#admin@user:one-admin",
  "organization:two#zone@zone:acme",
  "organization:two#owner@user:two-owner",
  "organization:two#owner@user:one-owner",
  "organization:two#admin@user:one-admin",
  "project:site#parent@organization:one",
  "project:site#owner@user:site-owner",
  "project:site#admin@user:site-admin",
  "project:site#developer@user:site-developer",
  "project:lone#owner@user:lone-owner",
];

/** Whether a user may write; what is refused is the code. */
async function outcome(stored: readonly string[], user: string, ...updates: string[]) {
  await using engine = await iamEngine(...stored);
  const rules = new RelationshipRules(engine);
  const caller = { subjectType: "user", subjectId: user };
  const signal = AbortSignal.timeout(60_000);
  try {
    const { preconditions } = await rules.assertMayWrite(caller, updatesOf(...updates), signal);
    await engine.writeRelationships({ updates: updatesOf(...updates), preconditions });
    return "written";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

type Row = readonly [user: string, updates: string | readonly string[], expected: string];

function table(rows: readonly Row[], stored: readonly string[] = STORED): void {
  test.each(rows.map(([user, updates, expected]) => [user, [updates].flat(), expected] as const))(
    "%s writes %j: %s",
    async (user, updates, expected) => {
      expect(await outcome(stored, user, ...updates)).toBe(expected);
    },
  );
}

describe("each object needs its permission [IAM-6]", () => {
  table([
    ["nobody", "zone:acme#user_viewer@user:x", "FORBIDDEN"],
    ["umanager", "zone:acme#user_viewer@user:x", "FORBIDDEN"],
    ["padmin", "zone:acme#user_viewer@user:x", "written"],
    ["padmin", "zone:other#user_viewer@user:x", "FORBIDDEN"],
    ["padmin", ["zone:acme#user_viewer@user:x", "zone:other#user_viewer@user:x"], "FORBIDDEN"],
    ["eng-manager", "group:eng#viewer@user:x", "FORBIDDEN"],
    ["eng-padmin", "group:eng#viewer@user:x", "written"],
    ["eng-padmin", "group:web#viewer@user:x", "written"],
    ["web-owner", "group:eng#viewer@user:x", "FORBIDDEN"],
    ["site-developer", "project:site#viewer@user:x", "FORBIDDEN"],
    ["site-admin", "project:site#viewer@user:x", "written"],
    ["one-admin", "project:site#viewer@user:x", "written"],
    ["owner", "project:site#viewer@user:x", "FORBIDDEN"],
    ["site-admin", "-project:site#developer@user:site-developer", "written"],
    ["site-developer", "-project:site#developer@user:site-developer", "FORBIDDEN"],
  ]);
});

describe("an owner is made and removed by owners [IAM-6]", () => {
  table([
    ["admin", "zone:acme#owner@user:admin", "FORBIDDEN"],
    ["padmin", "zone:acme#owner@user:padmin", "FORBIDDEN"],
    ["owner", "zone:acme#owner@user:x", "written"],
    ["chair", "zone:acme#owner@user:x", "written"],
    ["admin", "-zone:acme#owner@user:owner", "FORBIDDEN"],
    ["chair", "-zone:acme#owner@user:owner", "written"],
    ["owner", "group:web#owner@user:x", "written"],
    ["admin", "group:web#owner@user:x", "FORBIDDEN"],
    ["eng-padmin", "group:eng#owner@user:eng-padmin", "FORBIDDEN"],
    ["eng-owner", "group:web#owner@user:x", "written"],
    ["web-owner", "group:web#owner@user:x", "written"],
    ["site-admin", "project:site#owner@user:x", "FORBIDDEN"],
    ["one-admin", "project:site#owner@user:x", "FORBIDDEN"],
    ["one-owner", "project:site#owner@user:x", "written"],
    ["site-owner", "project:site#owner@group:eng#member", "written"],
    ["site-admin", "project:site#owner@group:eng#member", "FORBIDDEN"],
  ]);
});

describe("an admin is made and removed by owners and admins [IAM-6]", () => {
  table([
    ["padmin", "zone:acme#admin@user:padmin", "FORBIDDEN"],
    ["padmin", "zone:acme#admin@group:eng#member", "FORBIDDEN"],
    ["padmin", "-zone:acme#admin@user:admin", "FORBIDDEN"],
    ["admin", "zone:acme#admin@user:x", "written"],
    ["owner", "zone:acme#admin@user:x", "written"],
    ["site-admin", "project:site#admin@user:x", "written"],
    ["one-admin", "project:site#admin@user:x", "written"],
    ["admin", "organization:one#admin@user:admin", "FORBIDDEN"],
    ["owner", "organization:one#owner@user:owner", "FORBIDDEN"],
  ]);
});

describe("a member gets what the members of the group hold [IAM-7]", () => {
  table([
    ["eng-manager", "group:eng#member@user:x", "written"],
    ["umanager", "group:eng#member@user:x", "written"],
    ["gmanager", "group:eng#member@user:x", "FORBIDDEN"],
    ["eng-padmin", "group:eng#member@user:x", "FORBIDDEN"],
    ["umanager", "group:board#member@user:umanager", "FORBIDDEN"],
    ["admin", "group:board#member@user:admin", "FORBIDDEN"],
    ["owner", "group:board#member@user:x", "written"],
    ["admin", "-group:board#member@user:chair", "written"],
  ]);
  for (const [held, refused, allowed] of [
    ["zone:acme#admin", "umanager", "admin"],
    ["zone:acme#permission_admin", "umanager", "admin"],
    ["zone:acme#user_manager", "eng-manager", "owner"],
    ["group:web#owner", "admin", "owner"],
    ["project:site#owner", "owner", undefined],
    ["project:site#admin", "owner", undefined],
    ["organization:one#admin", "owner", undefined],
  ] as const) {
    for (const way of ["directly", "through a group above"] as const) {
      test(`${held}, ${way}`, async () => {
        const path =
          way === "directly"
            ? [`${held}@group:eng#member`]
            : ["group:board2#member@group:eng#member", `${held}@group:board2#member`];
        const stored = [...STORED, ...path];
        const add = "group:eng#member@user:x";
        expect(await outcome(stored, refused, add)).toBe("FORBIDDEN");
        if (allowed !== undefined) expect(await outcome(stored, allowed, add)).toBe("written");
        expect(await outcome(stored, "owner", "-group:eng#member@user:x")).toBe("written");
        // A group below is a member too.
        expect(await outcome(stored, refused, "group:eng#member@group:web#member")).toBe(
          "FORBIDDEN",
        );
      });
    }
  }

  test("what has no rank, and other relations of a zone, may be held", async () => {
    const stored = [
      ...STORED,
      "zone:acme#user_viewer@group:eng#member",
      "zone:acme#group_manager@group:eng#member",
      "project:site#developer@group:eng#member",
    ];
    expect(await outcome(stored, "eng-manager", "group:eng#member@user:x")).toBe("written");
  });

  test("more than 1,000 of them are refused, also to an owner of all", async () => {
    const projects = Array.from({ length: 1001 }, (_, index) => [
      `project:p${index}#owner@user:owner`,
      `project:p${index}#owner@group:eng#member`,
    ]);
    const add = "group:eng#member@user:x";
    expect(await outcome([...STORED, ...projects.flat()], "owner", add)).toBe("FORBIDDEN");
    expect(await outcome([...STORED, ...projects.slice(1).flat()], "owner", add)).toBe("written");
  });
});

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
  test("an object that no relationship names is not made", async () => {
    const add = "project:new#owner@user:owner";
    expect(await outcome(STORED, "owner", add)).toBe("FORBIDDEN");
    expect(await outcome(STORED, "owner", add, "project:new#parent@organization:one")).toBe(
      "FORBIDDEN",
    );
  });
});

describe("a relation that the type does not have is invalid [IAM-15]", () => {
  table([
    ["owner", "project:site#executor@user:x", "INVALID_ARGUMENT"],
    ["owner", "project:site#manage@user:x", "INVALID_ARGUMENT"],
    ["owner", "user:owner#owner@user:x", "INVALID_ARGUMENT"],
    ["owner", "nothing:site#owner@user:x", "INVALID_ARGUMENT"],
  ]);
});
