/** Rights that are revoked between the decision and the write. */
import { type AuthorizationEngine, AuthzError } from "svc-access/authz";
import type { TestEngine } from "svc-access/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GroupCreation } from "../../src/api/groups/group-creation.ts";
import { GroupMembers } from "../../src/api/groups/group-members.ts";
import { GroupMoves } from "../../src/api/groups/group-moves.ts";
import type { GroupRecords } from "../../src/api/groups/group-records.ts";
import { GroupTree } from "../../src/api/groups/group-tree.ts";
import { MoveRights } from "../../src/api/groups/move-rights.ts";
import { PlaceRights } from "../../src/api/groups/place-rights.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import type { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, PAGE_TOKENS, relationship, updatesOf, write } from "./rights-engine.ts";

const STORED = [
  "zone:acme#owner@user:root",
  "zone:acme#group_manager@user:gm",
  "zone:acme#permission_admin@group:staff#member",
  "group:staff#zone@zone:acme",
  "group:staff#member@user:pat",
  "group:a#zone@zone:acme",
  "group:b#zone@zone:acme",
  "group:b#parent@group:a",
  "group:c#zone@zone:acme",
  "group:a#owner@user:ann",
  "project:p#owner@user:ann",
  "project:p#admin@user:adam",
  "project:q#owner@group:b#member",
  "project:q#owner@user:ann",
];
const signal = AbortSignal.timeout(600_000);
const NO_CLAIMS = {
  during: (_objects: unknown, _signal: unknown, work: (claims: unknown) => unknown) =>
    work({ add: async () => true }),
} as unknown as OwnerClaims;

let engine: TestEngine;
beforeEach(async () => {
  engine = await iamEngine(...STORED);
});
afterEach(() => engine.close());

/** The engine, on which something is written right before the first writes. */
function withRace(...races: string[][]): AuthorizationEngine {
  const left = [...races];
  return new Proxy(engine as AuthorizationEngine, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "writeRelationships") return value.bind(target);
      return async (...given: Parameters<AuthorizationEngine["writeRelationships"]>) => {
        const race = left.shift();
        if (race !== undefined) await write(engine, ...race);
        return engine.writeRelationships(...given);
      };
    },
  });
}

const records = {
  begin: async () => "begun",
  advance: async () => true,
  find: async (id: string) => ({ id, organizationId: "acme" }),
  discard: async () => true,
} as unknown as GroupRecords;

function partsOn(used: AuthorizationEngine) {
  const rules = new RelationshipRules(used);
  const enabled = async (ids: readonly string[]) => new Set(ids);
  const lastOwner = new LastOwner({ engine: used, claims: NO_CLAIMS, enabled });
  const tree = new GroupTree(used);
  const places = new PlaceRights(used, records);
  return {
    rules,
    lastOwner,
    members: new GroupMembers({ engine: used, rules, lastOwner, pageTokens: PAGE_TOKENS }),
    creation: new GroupCreation({ engine: used, records, tree, rights: places }),
    moves: new GroupMoves({
      engine: used,
      tree,
      places,
      rights: new MoveRights(used, rules),
      lastOwner,
    }),
  };
}

const by = (user: string) => ({ subjectType: "user", subjectId: user });
const inAcme = (id: string) => ({ id, organizationId: "acme" });
const X = { type: "user", id: "x" };

/** What becomes of a call. */
async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "done",
    ({ code }: { code?: string }) => code ?? "unknown",
  );
}

function writing(user: string, update: string, used: AuthorizationEngine): Promise<string> {
  const { rules, lastOwner } = partsOn(used);
  const updates = updatesOf(update);
  const decide = async () => (await rules.assertMayWrite(by(user), updates, signal)).preconditions;
  return outcome(lastOwner.write(updates, decide, signal));
}

async function isStored(text: string): Promise<boolean> {
  const { resource, relation, subject } = relationship(text);
  const filter = { resourceType: resource.type, resourceId: resource.id, relation, subject };
  return (await engine.readRelationships(filter)).items.length > 0;
}

describe("a right that is revoked between the decision and the write does not count [IAM-6]", () => {
  test.each([
    ["adam", "project:p#viewer@user:x", "-project:p#admin@user:adam"],
    ["ann", "project:p#owner@user:x", "-project:p#owner@user:ann"],
    // By a group, a zone and a group above.
    ["pat", "zone:acme#user_viewer@user:x", "-group:staff#member@user:pat"],
    ["pat", "group:c#viewer@user:x", "-zone:acme#permission_admin@group:staff#member"],
    ["pat", "group:c#viewer@user:x", "-group:c#zone@zone:acme"],
    ["ann", "group:b#viewer@user:x", "-group:a#owner@user:ann"],
    ["ann", "group:b#viewer@user:x", "-group:b#parent@group:a"],
    // The rank, the right to what the members hold, and the release of a grant.
    ["ann", "group:b#owner@user:x", "-group:a#owner@user:ann"],
    ["ann", "group:b#member@user:x", "-project:q#owner@user:ann"],
    ["ann", "-project:q#owner@group:b#member", "-group:a#owner@user:ann"],
  ])("%s writes %s, and meanwhile %s", async (user, update, revocation) => {
    const also = update.includes("q#owner@group") ? ["-project:q#owner@user:ann"] : [];
    const result = await writing(user, update, withRace([revocation, ...also]));
    expect(result).toBe("FORBIDDEN");
    expect(await isStored(update.replace("-", ""))).toBe(update.startsWith("-"));
  });

  test("of who adds a member", async () => {
    const { members } = partsOn(withRace(["-group:a#owner@user:ann"]));
    expect(await outcome(members.add(by("ann"), inAcme("a"), X, signal))).toBe("FORBIDDEN");
    expect(await isStored("group:a#member@user:x")).toBe(false);
  });

  test("of who creates a group", async () => {
    const group = { organizationId: "acme", parentId: "", displayName: "New" };
    const { creation } = partsOn(withRace(["-zone:acme#group_manager@user:gm"]));
    const made = creation.create(by("gm"), group, signal, "new");
    expect(await outcome(made)).toBe("FAILED_PRECONDITION");
    expect(await isStored("group:new#owner@user:gm")).toBe(false);
  });

  test("of who moves a group", async () => {
    const { moves } = partsOn(withRace(["-zone:acme#group_manager@user:gm"]));
    const moved = moves.move(by("gm"), inAcme("b"), "", signal);
    expect(await outcome(moved)).toBe("FAILED_PRECONDITION");
    expect(await isStored("group:b#parent@group:a")).toBe(true);
  });
});

describe("a right that is held in another way", () => {
  test("is found again if the first way is revoked", async () => {
    const race = ["-project:p#owner@user:ann", "project:p#admin@user:ann"];
    expect(await writing("ann", "project:p#viewer@user:x", withRace(race))).toBe("done");
    expect(await isStored("project:p#viewer@user:x")).toBe(true);
  });

  test("is not looked for without an end", async () => {
    const [there, gone] = [
      ["-project:p#owner@user:ann", "project:p#admin@user:ann"],
      ["project:p#owner@user:ann", "-project:p#admin@user:ann"],
    ];
    const races = withRace(there, gone, there, gone, there, gone);
    expect(await writing("ann", "project:p#viewer@user:x", races)).toBe("FAILED_PRECONDITION");
  });
});

test("a right that takes too much to explain counts as it was decided", async () => {
  const used = new Proxy(withRace(), {
    get(target, name) {
      if (name !== "explain") return Reflect.get(target, name);
      return async () => {
        throw new AuthzError("RESOURCE_EXHAUSTED", "too many relationships");
      };
    },
  });
  expect(await writing("ann", "project:p#viewer@user:x", used)).toBe("done");
  expect(await writing("adam", "project:p#owner@user:x", used)).toBe("FORBIDDEN");
});

test("a write that relies on more than the engine takes keeps the first of it", async () => {
  await ownMany();
  const { members } = partsOn(engine);
  expect(await outcome(members.add(by("ann"), inAcme("a"), X, signal))).toBe("done");
});

test("a right beyond those that a write keeps does not count if it was revoked [IAM-6]", async () => {
  await ownMany();
  const used = new Proxy(withRace(), {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "explain") return value;
      return async (...given: Parameters<AuthorizationEngine["explain"]>) => {
        const explained = await engine.explain(...given);
        const [{ resource, permission }] = given;
        if (resource.id === "m999" && permission === "owner") {
          await write(engine, "-project:m999#owner@user:ann");
        }
        return explained;
      };
    },
  });
  const { members } = partsOn(used);
  expect(await outcome(members.add(by("ann"), inAcme("a"), X, signal))).toBe("FORBIDDEN");
});

/** Has ann and the members of a group own very many projects. */
async function ownMany(): Promise<void> {
  const projects = Array.from({ length: 1000 }, (_, index) => [
    `project:m${index}#owner@user:ann`,
    `project:m${index}#owner@group:a#member`,
  ]);
  for (let start = 0; start < 1000; start += 500) {
    await write(engine, ...projects.slice(start, start + 500).flat());
  }
}
