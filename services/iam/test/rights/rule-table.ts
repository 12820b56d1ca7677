import { expect, test } from "vitest";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { iamEngine, updatesOf } from "./rights-engine.ts";

/** A zone with two groups, a project and a skill; the name of each person is what they hold. */
export const STORED = [
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
export async function outcome(stored: readonly string[], user: string, ...updates: string[]) {
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

/** Who writes what, and what happens. */
export type Row = readonly [user: string, updates: string | readonly string[], expected: string];

/** A test for each row: the user and the outcome are of what the row writes. */
export function table(rows: readonly Row[], stored: readonly string[] = STORED): void {
  test.each(rows.map(([user, updates, expected]) => [user, [updates].flat(), expected] as const))(
    "%s writes %j: %s",
    async (user, updates, expected) => {
      expect(await outcome(stored, user, ...updates)).toBe(expected);
    },
  );
}
