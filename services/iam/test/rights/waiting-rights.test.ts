/** Rights of calls that wait for others: those count that the caller has when the write is made. */
import { expect, test } from "vitest";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { stackDatabase } from "../support/databases.ts";
import { iamEngine, NO_LOG, updatesOf, write } from "./rights-engine.ts";

const signal = new AbortController().signal;
const STORED = [
  "group:place#zone@zone:acme",
  "group:place#owner@user:mallory",
  "group:place#owner@user:root",
  "zone:acme#owner@user:root",
];

class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

/** A write of mallory as far as it goes, while another operation holds what it needs. */
async function waiting(text: string) {
  const engine = await iamEngine(...STORED);
  const { open } = await stackDatabase();
  const operations = () => {
    const claims = new OwnerClaims(open().as<OwnerClaimTables>(), NO_LOG);
    return new LastOwner({ engine, claims, enabled: async (ids) => new Set(ids) });
  };
  const rules = new RelationshipRules(engine);
  const updates = updatesOf(text);
  const mallory = { subjectType: "user", subjectId: "mallory" };
  const decide = async () => (await rules.assertMayWrite(mallory, updates, signal)).preconditions;
  const [held, release] = [new Gate(), new Gate()];
  const place = { type: "group", id: "place" };
  const other = operations().guard({ held: [place] }, signal, async () => {
    held.open();
    await release.opened;
  });
  await held.opened;
  const writing = operations()
    .write(updates, decide, signal)
    .then(
      () => "written",
      (error: { code?: string }) => error.code,
    );
  const isStored = async (subject: string) => {
    const filter = {
      resourceType: "group",
      relation: "owner",
      subject: { type: "user", id: subject },
    };
    return (await engine.readRelationships(filter)).items.length > 0;
  };
  return { engine, writing, isStored, end: () => (release.open(), other) };
}

test("a right that was revoked while a grant waited does not count [IAM-6]", async () => {
  const { engine, writing, isStored, end } = await waiting("group:place#owner@user:accomplice");
  await write(engine, "-group:place#owner@user:mallory");
  await end();
  expect(await writing).toBe("FORBIDDEN");
  expect(await isStored("accomplice")).toBe(false);
});

test("nobody gets power over a group while another one moves below it [IAM-8]", async () => {
  const { writing, isStored, end } = await waiting("group:place#permission_admin@user:accomplice");
  let isOver = false;
  void writing.then(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([isOver, await isStored("accomplice")]).toEqual([false, false]);
  await end();
  expect(await writing).toBe("written");
});
