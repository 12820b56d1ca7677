/** Grants to the members of a group that is deleted at the same time: none of them is left. */
import { randomUUID } from "node:crypto";
import type { AuthorizationEngine, RelationshipUpdate, WriteRequest } from "svc-access/authz";
import type { TestEngine } from "svc-access/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GroupCreation } from "../../../src/api/groups/group-creation.ts";
import { GroupDeletion } from "../../../src/api/groups/group-deletion.ts";
import { GroupRecords } from "../../../src/api/groups/group-records.ts";
import { GroupTree } from "../../../src/api/groups/group-tree.ts";
import { PlaceRights } from "../../../src/api/groups/place-rights.ts";
import { openIamRemovals } from "../../../src/ground/removals/removals.ts";
import type { OwnerClaimTables } from "../../../src/ground/store/owner-claim-tables.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { LastOwner, type LastOwnerOptions } from "../../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../../src/rights/relationship-rules.ts";
import { iamEngine, NO_LOG, updatesOf } from "../../rights/rights-engine.ts";
import { stackDatabase, type TestDatabase } from "../../support/databases.ts";

const { signal } = new AbortController();
const ROOT = { subjectType: "user", subjectId: "root" };
const GROUP = { organizationId: "acme", parentId: "", displayName: "Group" };

let engine: TestEngine;
let stack: TestDatabase;
let records: GroupRecords;
let made: Awaited<ReturnType<GroupCreation["create"]>>;
beforeEach(async () => {
  engine = await iamEngine(
    "zone:acme#owner@user:root",
    "organization:o1#owner@user:root",
    "group:club#zone@zone:acme",
  );
  stack = await stackDatabase();
  const database = stack.open().as<IamTables>();
  const removals = await openIamRemovals({ database, engine });
  records = new GroupRecords(database, removals);
  removals.register({
    name: "group",
    objectType: "group",
    deleteRecord: (transaction, id) => records.delete(transaction, id),
  });
  const rights = new PlaceRights(engine, records);
  const creation = new GroupCreation({ engine, records, tree: new GroupTree(engine), rights });
  made = await creation.create(ROOT, GROUP, signal, randomUUID());
});
afterEach(() => engine.close());

/** The engine, which does something right before it writes. */
function beforeWrites(act: () => Promise<unknown>): AuthorizationEngine {
  const write = async (request: WriteRequest) => {
    await act();
    return engine.writeRelationships(request);
  };
  return new Proxy<AuthorizationEngine>(engine, {
    get(target, name) {
      if (name === "writeRelationships") return write;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function lastOwner(used: AuthorizationEngine, onClaim = () => {}): LastOwner {
  const claims = new OwnerClaims(stack.open().as<OwnerClaimTables>(), NO_LOG);
  const during: OwnerClaims["during"] = (...parameters) => {
    onClaim();
    return claims.during(...parameters);
  };
  const enabled: LastOwnerOptions["enabled"] = async (ids) => new Set(ids);
  return new LastOwner({ engine: used, claims: { during } as OwnerClaims, enabled });
}

const remove = (used: AuthorizationEngine) =>
  new GroupDeletion({
    engine: used,
    records,
    tree: new GroupTree(used),
    places: new PlaceRights(used, records),
    rules: new RelationshipRules(used),
    lastOwner: lastOwner(used),
  }).delete(ROOT, made, signal);

const outcome = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "done",
    ({ code, message }) => code ?? message,
  );

function grant(
  updates: readonly RelationshipUpdate[],
  used: AuthorizationEngine,
  onClaim?: () => void,
) {
  const rules = new RelationshipRules(engine);
  const decide = async () => (await rules.assertMayWrite(ROOT, updates, signal)).preconditions;
  return outcome(lastOwner(used, onClaim).write(updates, decide, signal));
}

/** What the members of the group were granted. */
const left = async () => {
  const filter = { subject: { type: "group", id: made.id, relation: "member" } };
  return (await engine.readRelationships(filter)).items;
};

const DECIDED_ON = [
  "zone:acme#owner",
  "zone:acme#user_viewer",
  "organization:o1#owner",
  "organization:o1#admin",
  "group:club#member",
  "group:club#viewer",
];

test.each(DECIDED_ON)(
  "%s is not granted between the reads of a deletion and its write [IAM-6]",
  async (set) => {
    const updates = updatesOf(`${set}@group:${made.id}#member`);
    let granting: Promise<string> | undefined;
    const racing = beforeWrites(async () => {
      // It either waits for the deletion, or is written before it.
      await new Promise<void>((resolve) => {
        granting = grant(updates, engine, resolve);
        void granting.then(() => resolve());
      });
    });
    expect(await outcome(remove(racing))).toBe("done");
    expect([await granting, await left()]).toEqual(["FAILED_PRECONDITION", []]);
  },
);

test.each([...DECIDED_ON, "organization:o1#viewer"])(
  "%s is not granted to a group that was deleted after the decision [IAM-6]",
  async (set) => {
    const updates = updatesOf(`${set}@group:${made.id}#member`);
    const late = beforeWrites(() =>
      engine.writeRelationships({ updates: updatesOf(`-group:${made.id}#zone@zone:acme`) }),
    );
    expect([await grant(updates, late), await left()]).toEqual(["FAILED_PRECONDITION", []]);
  },
);

test("what a group without a place was granted can be deleted, and it is granted nothing more", async () => {
  const text = "organization:o1#viewer@group:lost#member";
  await engine.writeRelationships({ updates: updatesOf(text, "group:lost#member@user:alice") });
  expect(await grant(updatesOf(text), engine)).toBe("FAILED_PRECONDITION");
  expect(await grant(updatesOf(`-${text}`), engine)).toBe("done");
});

test("a grant that is there can be written again, and taken away while the group is being deleted", async () => {
  const text = `organization:o1#admin@group:${made.id}#member`;
  expect(await grant(updatesOf(text), engine)).toBe("done");
  expect(await grant(updatesOf(text), engine)).toBe("done");
  let taking: string | undefined;
  const racing = beforeWrites(async () => {
    taking = await grant(updatesOf(`-${text}`), engine);
  });
  await outcome(remove(racing));
  expect([taking, await left()]).toEqual(["done", []]);
});
