/** Writes of members into many groups whose members hold much in common: the work of a call is bounded. */
import type { AuthorizationEngine } from "svc-access/authz";
import { expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, updatesOf } from "./rights-engine.ts";

const GROUPS = 100;
const ids = Array.from({ length: GROUPS }, (_, index) => `g${index}`);
const ROOT = { subjectType: "user", subjectId: "root" };

/** Counts what an engine decides. */
function counting(engine: AuthorizationEngine) {
  const count = { checks: 0, lookups: 0 };
  const counted = new Proxy(engine, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (name === "checkBulk") count.checks += (given[0] as unknown[]).length;
        if (name === "lookupResources") count.lookups++;
        return value.apply(target, given);
      };
    },
  });
  return { counted, count };
}

/** A call that adds a member to each group, and what it took. */
async function adding(grants: readonly string[], groups = ids) {
  const own = ids.flatMap((id) => [`group:${id}#zone@zone:acme`, `group:${id}#owner@user:root`]);
  await using engine = await iamEngine("zone:acme#owner@user:root", ...own, ...grants);
  const { counted, count } = counting(engine);
  const updates = updatesOf(...groups.map((id) => `group:${id}#member@user:new`));
  const deciding = new RelationshipRules(counted).assertMayWrite(
    ROOT,
    updates,
    AbortSignal.timeout(60_000),
  );
  const message = await deciding.then(
    () => "allowed",
    (error: Error) => error.message,
  );
  return { ...count, message };
}

/** Each group is owned by the members of some of the others. */
const owning = (others: number) =>
  ids.flatMap((id, index) =>
    Array.from(
      { length: others },
      (_, step) => `group:${id}#owner@group:${ids[(index + step + 1) % GROUPS]}#member`,
    ),
  );

test("what several groups hold is decided once [IAM-7]", async () => {
  const { checks, message } = await adding(owning(50));
  expect(message).toBe("allowed");
  // The members of each group, and the owner of each: by the permission, and by rank at two places.
  expect(checks).toBeLessThanOrEqual(GROUPS * 4);
});

test("groups that hold more than 10,000 relations together are refused, and fewer of them are not [IAM-7]", async () => {
  const many = ids.slice(0, 30);
  const grants = Array.from({ length: 900 }, (_, index) => [
    `project:p${index}#owner@user:root`,
    ...many.map((id) => `project:p${index}#owner@group:${id}#member`),
  ]).flat();
  const { lookups, message } = await adding(grants, many);
  expect(message).toContain("write fewer at once");
  const ofEach = (await adding(grants, many.slice(0, 1))).lookups;
  // Those that were under way continue.
  expect(lookups).toBeLessThanOrEqual(20 * ofEach);
  expect((await adding(grants, many.slice(0, 10))).message).toBe("allowed");
});

test("groups that hold more than 1,000 different relations together are refused [IAM-7]", async () => {
  const grants = Array.from({ length: 1001 }, (_, index) => [
    `project:p${index}#owner@user:root`,
    `project:p${index}#owner@group:${ids[index % 2]}#member`,
  ]).flat();
  expect((await adding(grants)).message).toContain("write fewer at once");
  expect((await adding(grants, ["g0"])).message).toBe("allowed");
});
