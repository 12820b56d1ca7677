/** Which paths of a right a write can keep, and that others are decided in the newest state. */
import { type AuthorizationEngine, type Explanation, parseModel } from "svc-access/authz";
import { describe, expect, test } from "vitest";
import { decidePath } from "../../src/rights/decided-path.ts";
import { RightsModel } from "../../src/rights/rights-model.ts";
import { relationship } from "./rights-engine.ts";

const { model } = parseModel(
  `definition user {}
   definition group { relation member: user | group#member }
   definition place { relation owner: user | group#member
     permission manage = owner }
   definition doc { relation place: place
     relation owner: user | group#member
     relation cleared: user
     permission manage = owner + place->manage
     permission publish = owner & cleared
     permission edit = owner - cleared }`,
  "m",
);
const rights = new RightsModel(model);
const subject = { type: "user", id: "ann" };
const doc = { type: "doc", id: "d" };
const [byAnn, byGroup, inGroup] = [
  relationship("doc:d#owner@user:ann"),
  relationship("doc:d#owner@group:g#member"),
  relationship("group:g#member@user:ann"),
];

function step(
  kind: Explanation["kind"],
  permission: string,
  more: Partial<Explanation> = {},
): Explanation {
  return { resource: doc, permission, allowed: true, kind, children: [], ...more };
}

const direct = step("relation", "owner", { relationship: byAnn });
const member = step("relation", "member", {
  resource: { type: "group", id: "g" },
  relationship: inGroup,
});
const place = step("union", "manage", {
  resource: { type: "place", id: "p" },
  children: [
    step("relation", "owner", {
      resource: { type: "place", id: "p" },
      relationship: relationship("place:p#owner@user:ann"),
    }),
  ],
});

/** What is decided on, where the right is gone in the newest state or still there. */
async function decide(explanation: Explanation, isThere: boolean) {
  const asked: unknown[] = [];
  const engine: Pick<AuthorizationEngine, "check" | "explain"> = {
    explain: async () => ({ allowed: true, revision: "r", explanation }),
    check: async (_, options) => {
      asked.push(options?.newest);
      return { allowed: isThere, revision: "r" };
    },
  };
  const request = { resource: doc, permission: explanation.permission, subject };
  const decided = await decidePath(engine, rights, request, { atLeastAsFresh: "r" });
  return { ...decided, asked };
}

describe("a path that is kept as a whole is decided once", () => {
  test.each<[string, Explanation, number]>([
    ["a relationship", direct, 1],
    ["one of a permission", step("union", "manage", { children: [direct] }), 1],
    ["a membership", step("relation", "owner", { relationship: byGroup, children: [member] }), 2],
    [
      "an arrow",
      step("union", "manage", { children: [step("arrow", "manage", { children: [place] })] }),
      2,
    ],
    ["the subject itself", step("self", "manage"), 0],
  ])("%s", async (_, explanation, count) => {
    const decided = await decide(explanation, false);
    expect(decided).toMatchObject({ allowed: true, asked: [] });
    expect(decided.preconditions).toHaveLength(count);
  });
});

describe("a path that is not is decided again, in the newest state [IAM-6]", () => {
  test.each<[string, Explanation, number]>([
    ["a membership that was left out", step("relation", "owner", { relationship: byGroup }), 1],
    ["an arrow that was left out", step("arrow", "manage"), 0],
    ["a permission without its reason", step("union", "manage"), 0],
    [
      "one with a reason that does not allow",
      step("union", "manage", { children: [{ ...direct, allowed: false }] }),
      0,
    ],
    ["an explanation that says otherwise", { ...direct, allowed: false }, 0],
    [
      "an intersection",
      step("intersection", "publish", {
        children: [
          direct,
          step("relation", "cleared", { relationship: relationship("doc:d#cleared@user:ann") }),
        ],
      }),
      2,
    ],
    [
      "an exclusion",
      step("exclusion", "edit", {
        children: [direct, step("relation", "cleared", { allowed: false })],
      }),
      1,
    ],
  ])("%s", async (_, explanation, count) => {
    expect(await decide(explanation, false)).toMatchObject({
      allowed: false,
      preconditions: [],
      asked: [true],
    });
    const held = await decide(explanation, true);
    expect(held).toMatchObject({ allowed: true, asked: [true] });
    expect(held.preconditions).toHaveLength(count);
  });
});
