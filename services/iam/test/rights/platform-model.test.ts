/** The rules with a model that contains that of IAM and has types of other services. */
import { readFileSync } from "node:fs";
import { testEngine } from "svc-access/testing";
import { describe, expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { updatesOf } from "./rights-engine.ts";

const IAM = readFileSync(new URL("../../../../model/iam.zed", import.meta.url), "utf8");
const MODEL = `${IAM}
definition team {
  relation above: team
  relation lead: user
  relation member: user | team#member
  relation keeper: user
  relation owner: user
  permission access = member + lead + above->access
  permission manage = lead + keeper
}
definition squad {
  relation boss: user
  relation member: user
  relation cleared: user
  relation banned: user
  relation guest: user
  permission both = member & cleared
  permission rest = member - banned
  permission manage = boss
}
definition folder {
  relation inside: folder
  relation reviewers: team
  relation owner: user | team#lead | team#access | squad#both | squad#rest
  relation admin: user
  relation reader: user | team#member
  permission manage = owner + admin + inside->manage
  permission review = reviewers->access
}
definition vault {
  relation owner: user | team#lead
  relation reader: user
  permission manage = owner
  permission stranger = reader - owner
}
definition shelf {
  relation inside: shelf
  relation owner: user
  relation admin: user
  relation keeper: user
  permission manage = owner + admin + keeper + inside->manage
}
definition note {
  relation writer: user
  permission edit = writer
}
`;

const STORED = [
  "folder:top#owner@user:top-owner",
  "folder:low#inside@folder:top",
  "folder:low#admin@user:low-admin",
  "folder:leads#owner@team:led#lead",
  "folder:shared#owner@team:wide#access",
  "team:led#lead@user:led-lead",
  "team:wide#lead@user:wide-lead",
  ...["led", "wide", "small"].map((id) => `team:${id}#keeper@user:keeper`),
  "team:small#lead@user:small-lead",
  "team:small#member@user:tom",
  "team:small#owner@user:small-owner",
  "squad:one#boss@user:boss",
  "vault:one#owner@team:led#lead",
  ...["top", "low", "bare"].map((id) => `shelf:${id}#keeper@user:keeper`),
  "shelf:top#admin@user:top-admin",
  "note:one#writer@user:ann",
];

async function outcome(user: string, ...updates: string[]): Promise<string> {
  await using engine = await testEngine({ modelText: MODEL, relationships: STORED });
  const rules = new RelationshipRules(engine);
  const caller = { subjectType: "user", subjectId: user };
  try {
    await rules.assertMayWrite(caller, updatesOf(...updates), AbortSignal.timeout(60_000));
    return "allowed";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("in the model of a platform", () => {
  test.each([
    // What an arrow of `manage` follows is a place, whatever its name is.
    ["top-owner", "folder:low#owner@user:x", "allowed"],
    ["low-admin", "folder:low#owner@user:x", "FORBIDDEN"],
    ["low-admin", "folder:low#reader@user:x", "allowed"],
    ["low-admin", "-folder:low#inside@folder:top", "FORBIDDEN"],
    ["low-admin", "folder:low#inside@folder:leads", "FORBIDDEN"],
    ["top-owner", "-folder:low#inside@folder:top", "allowed"],
    // Who manages both without a rank makes nobody an admin by it.
    ["keeper", "shelf:low#inside@shelf:bare", "allowed"],
    ["keeper", "shelf:low#inside@shelf:top", "FORBIDDEN"],
    // What another arrow follows is not: it is a grant to a set.
    ["low-admin", "folder:low#reviewers@team:small", "allowed"],
    // Each relation that is a set somewhere is compared as the members of a group are.
    ["small-lead", "team:small#lead@user:x", "allowed"],
    ["small-lead", "team:small#member@user:x", "allowed"],
    ["small-lead", "team:small#owner@user:x", "FORBIDDEN"],
    ["small-owner", "team:small#owner@user:x", "FORBIDDEN"],
    ["led-lead", "team:led#lead@user:x", "allowed"],
    ["keeper", "team:led#lead@user:x", "FORBIDDEN"],
    ["keeper", "team:led#member@user:x", "allowed"],
    ["keeper", "-team:led#lead@user:led-lead", "allowed"],
    // Also where it is part of a permission that is a set, directly and by an arrow.
    ["keeper", "team:wide#member@user:x", "FORBIDDEN"],
    ["wide-lead", "team:wide#member@user:x", "allowed"],
    ["keeper", "team:wide#member@team:small#member", "FORBIDDEN"],
    ["keeper", "team:wide#above@team:small", "FORBIDDEN"],
    ["wide-lead", "team:wide#above@team:small", "allowed"],
    ["keeper", "team:small#above@team:wide", "allowed"],
    // What is held together with others, or unless others are held, cannot be compared.
    ["boss", "squad:one#guest@user:x", "allowed"],
    ["boss", "squad:one#member@user:x", "FORBIDDEN"],
    ["boss", "squad:one#cleared@user:x", "FORBIDDEN"],
    ["boss", "-squad:one#banned@user:x", "FORBIDDEN"],
    // Who manages a set gives up what was granted to it, unless somebody could get more by that.
    ["keeper", "-folder:leads#owner@team:led#lead", "allowed"],
    ["small-lead", "-folder:leads#owner@team:led#lead", "FORBIDDEN"],
    ["keeper", "-vault:one#owner@team:led#lead", "FORBIDDEN"],
    ["keeper", "-squad:one#boss@user:boss", "FORBIDDEN"],
    // Nobody administers a type without `manage`.
    ["ann", "note:one#writer@user:x", "FORBIDDEN"],
  ])("%s writes %s: %s", async (user, update, expected) => {
    expect(await outcome(user, update)).toBe(expected);
  });
});
