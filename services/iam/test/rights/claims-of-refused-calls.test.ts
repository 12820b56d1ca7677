/** Calls without a right, and calls that end while they are decided, keep nothing claimed. */
import { type AuthorizationEngine, AuthzError } from "svc-access/authz";
import type { TestEngine } from "svc-access/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GroupDeletion } from "../../src/api/groups/group-deletion.ts";
import { GroupMoves } from "../../src/api/groups/group-moves.ts";
import type { GroupRecords } from "../../src/api/groups/group-records.ts";
import { GroupTree } from "../../src/api/groups/group-tree.ts";
import { MoveRights } from "../../src/api/groups/move-rights.ts";
import { PlaceRights } from "../../src/api/groups/place-rights.ts";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { stackDatabase } from "../support/databases.ts";
import { iamEngine, NO_LOG, updatesOf } from "./rights-engine.ts";

const STORED = [
  "zone:acme#owner@user:root",
  "zone:acme#owner@group:board#member",
  "group:board#zone@zone:acme",
  "group:board#member@user:root",
  "group:place#zone@zone:acme",
  "group:a#zone@zone:acme",
];
const DECISIONS: ReadonlySet<unknown> = new Set(["check", "checkBulk", "explain"]);
const records = {
  advance: async () => true,
  beginRemoval: async () => undefined,
  find: async (id: string) => ({ id, organizationId: "acme" }),
} as unknown as GroupRecords;
const of = (subjectId: string) => ({ subjectType: "user", subjectId });
const board = { id: "board", organizationId: "acme" } as const;

const database = (await stackDatabase()).open().as<OwnerClaimTables>();
const rows = () => database.kysely.selectFrom("iam_owner_claims").select("object").execute();

let engine: TestEngine;
beforeEach(async () => {
  engine = await iamEngine(...STORED);
});
afterEach(async () => {
  await engine.close();
  await database.kysely.deleteFrom("iam_owner_claims").execute();
});

/** A method of the engine of the calls instead of its own. */
type Override = (signal: AbortSignal) => Promise<never>;

/** The parts that claim, and how often they have claimed anything. */
function begin(override: (name: unknown, hasClaimed: boolean) => Override | undefined) {
  const real = new OwnerClaims(database, NO_LOG);
  let count = 0;
  const claims = {
    during: (...given: Parameters<OwnerClaims["during"]>) => {
      count++;
      return real.during(...given);
    },
  } as unknown as OwnerClaims;
  const used = new Proxy(engine as AuthorizationEngine, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const instead = override(name, count > 0);
        if (instead === undefined) return value.apply(target, given);
        return instead((given.at(-1) as { signal: AbortSignal }).signal);
      };
    },
  });
  const rules = new RelationshipRules(used);
  const lastOwner = new LastOwner({
    engine: used,
    claims,
    enabled: async (ids) => new Set(ids),
  });
  const tree = new GroupTree(used);
  const places = new PlaceRights(used, records);
  const parts = { engine: used, records, tree, places, rules, lastOwner };
  const moves = new GroupMoves({ ...parts, rights: new MoveRights(used, rules) });
  const writing = (text: string) => (user: string, signal: AbortSignal) => {
    const updates = updatesOf(text);
    const decide = async () =>
      (await rules.assertMayWrite(of(user), updates, signal)).preconditions;
    return lastOwner.write(updates, decide, signal);
  };
  const calls = {
    "a grant": writing("group:place#owner@user:x"),
    "a deletion": writing("-group:board#member@user:root"),
    "a move": (user: string, signal: AbortSignal) => moves.move(of(user), board, "place", signal),
    "the deletion of a group": (user: string, signal: AbortSignal) =>
      new GroupDeletion(parts).delete(of(user), board as never, signal),
  };
  return { calls, claimed: () => count };
}

const CALLS = ["a grant", "a deletion", "a move", "the deletion of a group"] as const;

describe("a call keeps nobody waiting [IAM-10]", () => {
  test.each(CALLS)("%s, without the right to it: nothing is claimed", async (name) => {
    const { calls, claimed } = begin(() => undefined);
    const call = calls[name]("nobody", new AbortController().signal);
    await expect(call).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect([claimed(), await rows()]).toEqual([0, []]);
  });

  test.each(CALLS.flatMap((name) => ["before", "after"].map((when) => [name, when] as const)))(
    "%s, that ends while it is decided, %s it claims anything: no claim stays",
    async (name, when) => {
      const abort = new AbortController();
      const { calls, claimed } = begin((method, hasClaimed) => {
        if (!DECISIONS.has(method) || hasClaimed !== (when === "after")) return undefined;
        // It does not answer before the caller has gone.
        return () => {
          abort.abort();
          return Promise.reject(new AuthzError("CANCELLED", "the caller has gone"));
        };
      });
      const call = calls[name]("root", abort.signal);
      await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
      expect([claimed(), await rows()]).toEqual([when === "after" ? 1 : 0, []]);
    },
  );

  test.each(CALLS)("%s, whose caller goes away while it is written: it is done", async (name) => {
    const abort = new AbortController();
    const { calls } = begin((method) => {
      if (method === "writeRelationships") abort.abort();
      return undefined;
    });
    await calls[name]("root", abort.signal);
    expect(await rows()).toEqual([]);
  });

  test.each(CALLS)("%s, whose write may still happen: its claims stay", async (name) => {
    const { calls } = begin((method) =>
      method === "writeRelationships"
        ? () => Promise.reject(new AuthzError("UNAVAILABLE", "the connection is lost"))
        : undefined,
    );
    const call = calls[name]("root", new AbortController().signal);
    await expect(call).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await rows()).not.toEqual([]);
  });
});
