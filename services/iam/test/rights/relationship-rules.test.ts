import { describe, expect, test } from "vitest";
import { outcome, STORED, table } from "./rule-table.ts";

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
    // The group owns the zone, so that is to revoke an owner; everybody may leave.
    ["admin", "-group:board#member@user:chair", "FORBIDDEN"],
    ["owner", "-group:board#member@user:chair", "written"],
    ["chair", "-group:board#member@user:chair", "written"],
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

  // They protect the accounts of the members from those who manage users.
  test.each(["user_viewer", "user_manager", "group_viewer", "group_manager"])(
    "a member keeps the %s of a zone that the group holds, unless the caller may revoke it",
    async (relation) => {
      const member = "group:eng#member@user:x";
      const ways = [
        [`zone:acme#${relation}@group:eng#member`],
        [
          "group:board2#member@group:eng#member",
          `zone:acme#${relation}@group:board2#member`,
          "group:board2#zone@zone:acme",
        ],
      ];
      for (const way of ways) {
        const stored = [...STORED, member, ...way];
        for (const user of ["umanager", "gmanager", "eng-owner", "eng-manager"]) {
          expect(await outcome(stored, user, `-${member}`), user).toBe("FORBIDDEN");
        }
        for (const user of ["admin", "owner"]) {
          expect(await outcome(stored, user, `-${member}`), user).toBe("written");
        }
      }
    },
  );

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

describe("a relation that the type does not have is invalid [IAM-15]", () => {
  table([
    ["owner", "project:site#executor@user:x", "INVALID_ARGUMENT"],
    ["owner", "project:site#manage@user:x", "INVALID_ARGUMENT"],
    ["owner", "user:owner#owner@user:x", "INVALID_ARGUMENT"],
    ["owner", "nothing:site#owner@user:x", "INVALID_ARGUMENT"],
  ]);
});
