import { describe, expect, test } from "vitest";
import { formatGrants, grantsOf, parseModel } from "../../src/model/index.ts";

const { model, diagnostics } = parseModel(
  `use self
definition user {}
definition org {
  relation admin: user
  permission manage = admin
}
definition team { relation member: user; }
definition doc {
  relation org: org | team
  relation owner: user | team#member
  relation viewer: user | user:*
  relation banned: user
  relation approved: user
  permission manage = owner + org->manage
  permission edit = manage + owner
  permission read = edit + viewer
  permission open = viewer - banned
  permission view = (read - banned) & approved
  permission signed = org.all(manage) + self
  permission gone = nil
  permission some = gone + viewer
  permission alone = owner
  permission bound = approved & (viewer - owner)
}`,
  "model.zed",
);

function explain(permission: string): string {
  const grants = grantsOf(model, "doc", permission);
  return grants ? formatGrants(grants).join("\n") : "";
}

const SUBJECTS = "user, team#member";

describe("formatGrants", () => {
  test.each([
    ["alone", `doc#alone is held by owner: ${SUBJECTS}`],
    ["owner", `doc#owner is held by owner: ${SUBJECTS}`],
    ["gone", "doc#gone is held by nobody"],
    ["some", "doc#some is held by viewer: user, user:*"],
    [
      "manage",
      `doc#manage is held by any of
  owner: ${SUBJECTS}
  org->manage: all who hold manage on its org (type org)`,
    ],
    [
      "read",
      `doc#read is held by any of
  owner, through edit: ${SUBJECTS}
  org->manage, through edit > manage: all who hold manage on its org (type org)
  viewer: user, user:*`,
    ],
    [
      "signed",
      `doc#signed is held by any of
  org.all(manage): all who hold manage on every org (type org)
  the doc itself`,
    ],
    [
      "open",
      `doc#open is held by viewer: user, user:*
but not banned: user`,
    ],
    [
      "view",
      `doc#view is held by those in all of
  any of
    owner, through read > edit: ${SUBJECTS}
    org->manage, through read > edit > manage: all who hold manage on its org (type org)
    viewer, through read: user, user:*
  but not banned: user
  approved: user`,
    ],
    [
      "bound",
      `doc#bound is held by those in all of
  approved: user
  viewer: user, user:*
  but not owner: ${SUBJECTS}`,
    ],
  ])("%s", (permission, expected) => {
    expect(diagnostics).toEqual([]);
    expect(explain(permission)).toBe(expected);
  });
});

describe("grantsOf", () => {
  test("is plain data", () => {
    expect(grantsOf(model, "doc", "manage")).toMatchObject({
      type: "doc",
      permission: "manage",
      grant: {
        kind: "any",
        grants: [
          { kind: "relation", relation: "owner", through: [] },
          { kind: "arrow", relation: "org", permission: "manage", types: ["org"], through: [] },
        ],
      },
    });
  });

  test("returns undefined for names that the model does not define", () => {
    expect(grantsOf(model, "doc", "unknown")).toBeUndefined();
    expect(grantsOf(model, "unknown", "view")).toBeUndefined();
  });

  test("terminates if permissions grow exponentially or refer to themselves", () => {
    const levels = Array.from(
      { length: 60 },
      (_, index) => `permission p${index}x = (p${index + 1}x & own) + (p${index + 1}x - own)`,
    );
    const text = `definition doc {\nrelation own: doc\nrelation p60x: doc\n${levels.join("\n")}\npermission cycle = cycle\n}`;
    const large = parseModel(text, "model.zed").model;
    const grants = grantsOf(large, "doc", "p0x");
    expect(grants && formatGrants(grants).join("\n")).toMatch(/p\d+x, through p1x .*: see there/);
    expect(grantsOf(large, "doc", "cycle")?.grant).toEqual({
      kind: "permission",
      permission: "cycle",
      through: [],
    });
  });
});
