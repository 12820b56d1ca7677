import type { WriteRequest } from "svc-access/authz";
import { describe, expect, test } from "vitest";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import type { OwnerChange } from "../../src/rights/owner-paths.ts";
import { stackDatabase } from "../support/databases.ts";
import { iamEngine, NO_LOG, relationship, updatesOf } from "./rights-engine.ts";

const { open } = await stackDatabase();
const claims = new OwnerClaims(open().as<OwnerClaimTables>(), NO_LOG);

/** Whether an operation is allowed where these users are disabled. */
async function outcome(
  stored: readonly string[],
  { remove = [], write = [], leave = [] }: Record<string, string[]>,
  disabled: readonly string[] = [],
) {
  await using engine = await iamEngine(...stored);
  const enabled = async (ids: readonly string[]) =>
    new Set(ids.filter((id) => !disabled.includes(id)));
  const last = new LastOwner({ engine, claims, enabled });
  const change: OwnerChange = {
    deletions: remove.map(relationship),
    writes: write.map(relationship),
    leaving: leave.map((text) => {
      const [type = "", id = ""] = text.split(":");
      return { type, id };
    }),
  };
  const updates = updatesOf(...remove.map((text) => `-${text}`), ...write);
  try {
    return await last.guard(change, AbortSignal.timeout(60_000), async (preconditions) => {
      if (updates.length > 0) await engine.writeRelationships({ updates, preconditions });
      return "done";
    });
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const [alice, bob] = ["zone:acme#owner@user:alice", "zone:acme#owner@user:bob"];
const board = "zone:acme#owner@group:board#member";
const [aliceInBoard, bobInBoard] = ["group:board#member@user:alice", "group:board#member@user:bob"];
const club = "group:board#member@group:club#member";
const bobInClub = "group:club#member@user:bob";
const service = "zone:acme#owner@service_account:robot";

describe("the last enabled user who owns a zone stays [IAM-10]", () => {
  test.each([
    ["the relationship of the only one", [alice], { remove: [alice] }, [], "FAILED_PRECONDITION"],
    [
      "with a service account left",
      [alice, service],
      { remove: [alice] },
      [],
      "FAILED_PRECONDITION",
    ],
    [
      "with a disabled user left",
      [alice, bob],
      { remove: [alice] },
      ["bob"],
      "FAILED_PRECONDITION",
    ],
    ["both at once", [alice, bob], { remove: [alice, bob] }, [], "FAILED_PRECONDITION"],
    [
      "the group of the only one",
      [board, bobInBoard],
      { remove: [board] },
      [],
      "FAILED_PRECONDITION",
    ],
    ["the only member", [board, bobInBoard], { remove: [bobInBoard] }, [], "FAILED_PRECONDITION"],
    [
      "the group in the group",
      [board, club, bobInClub],
      { remove: [club] },
      [],
      "FAILED_PRECONDITION",
    ],
    [
      "the member of the group in the group",
      [board, club, bobInClub],
      { remove: [bobInClub] },
      [],
      "FAILED_PRECONDITION",
    ],
    [
      "the group, deleted",
      [board, club, bobInClub],
      { leave: ["group:club"] },
      [],
      "FAILED_PRECONDITION",
    ],
    ["the only one, disabled", [alice], { leave: ["user:alice"] }, [], "FAILED_PRECONDITION"],
    [
      "the only member, disabled",
      [board, club, bobInClub],
      { leave: ["user:bob"] },
      [],
      "FAILED_PRECONDITION",
    ],
    [
      "replaced by a disabled user",
      [alice],
      { remove: [alice], write: [bob] },
      ["bob"],
      "FAILED_PRECONDITION",
    ],
    [
      "replaced by an empty group",
      [alice],
      { remove: [alice], write: [board] },
      [],
      "FAILED_PRECONDITION",
    ],
  ] as const)("%s", async (_, stored, change, disabled, expected) => {
    expect(await outcome(stored, change as never, disabled)).toBe(expected);
  });

  test.each([
    ["one of two", [alice, bob], { remove: [alice] }, []],
    ["one of two, disabled", [alice, bob], { leave: ["user:alice"] }, []],
    ["with a member of a group left", [alice, board, club, bobInClub], { remove: [alice] }, []],
    ["one way of two of the same user", [alice, board, aliceInBoard], { remove: [alice] }, []],
    ["a user who is disabled already", [alice, bob], { remove: [bob] }, ["bob"]],
    ["where nobody counted before", [alice], { remove: [alice] }, ["alice"]],
    ["a service account, with nobody left", [service], { remove: [service] }, []],
    ["replaced in the same write", [alice], { remove: [alice], write: [bob] }, []],
    [
      "replaced by a group of the write",
      [alice],
      { remove: [alice], write: [board, bobInBoard] },
      [],
    ],
    ["another relation", [alice], { remove: ["zone:acme#admin@user:alice"] }, []],
    ["a group that owns nothing", [alice, bobInClub], { leave: ["group:club", "user:bob"] }, []],
    ["a relationship that does not exist", [alice], { remove: [bob] }, []],
  ] as const)("goes: %s", async (_, stored, change, disabled) => {
    expect(await outcome(stored, change as never, disabled)).toBe("done");
  });
});

test("the write relies on the relationships of the other owner, but for those that it writes [IAM-10]", async () => {
  await using engine = await iamEngine(alice, board, club);
  const requests: WriteRequest[] = [];
  const original = engine.writeRelationships.bind(engine);
  const observed = Object.assign(engine, {
    writeRelationships: (request: WriteRequest) => {
      requests.push(request);
      return original(request);
    },
  });
  const last = new LastOwner({ engine: observed, claims, enabled: async (ids) => new Set(ids) });
  const updates = updatesOf(`-${alice}`, bobInClub);
  await last.write(updates, async () => [], AbortSignal.timeout(60_000));
  const filters = requests[0]?.preconditions?.map(({ kind, filter }) => [
    kind,
    filter.resourceId,
    filter.subject,
  ]);
  expect(filters).toEqual([
    ["MUST_MATCH", "acme", { type: "group", id: "board", relation: "member" }],
    ["MUST_MATCH", "board", { type: "group", id: "club", relation: "member" }],
  ]);
});
