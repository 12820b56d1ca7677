/** Responses that name more groups than are looked at. */
import { describe, expect, test } from "vitest";
import type { GroupRecord, GroupRecords } from "../../../src/api/groups/group-records.ts";
import { GroupVisibility } from "../../../src/api/groups/group-visibility.ts";

const MANY = Array.from({ length: 20_001 }, (_, at) => `g${at}`);
const CALLER = { subjectType: "user", subjectId: "alice" } as const;
const { signal } = new AbortController();

/** How the organization sees its groups, if the caller holds `view_groups` or nothing. */
function visibility({ holds, hasRecords = true }: { holds: boolean; hasRecords?: boolean }) {
  const asked: string[] = [];
  const engine = {
    async check() {
      return { allowed: holds, revision: "" };
    },
    async checkBulk(checks: readonly unknown[]) {
      asked.push("engine");
      return { items: checks.map(() => ({ allowed: false })), revision: "" };
    },
  };
  const records: Pick<GroupRecords, "findAll"> = {
    async findAll(ids) {
      asked.push("database");
      return new Map(ids.map((id) => [id, { id, organizationId: "acme" } as GroupRecord]));
    },
  };
  const groups = new GroupVisibility(engine as never, hasRecords ? records : undefined);
  return { asked, among: (ids: readonly string[]) => groups.among(CALLER, "acme", ids, signal) };
}

describe("too many groups", () => {
  test.each([
    ["whoever sees all of the organization", { holds: true }],
    ["whoever sees single groups", { holds: false }],
    ["whoever sees single groups of another provider", { holds: false, hasRecords: false }],
  ])("are refused before any of them is read, for %s", async (_, options) => {
    const { asked, among } = visibility(options);
    await expect(among(MANY)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    expect(asked).toEqual([]);
  });

  test("are all visible where nothing is read for it", async () => {
    const { asked, among } = visibility({ holds: true, hasRecords: false });
    expect((await among(MANY)).size).toBe(MANY.length);
    expect(asked).toEqual([]);
  });
});

test("as many as are looked at are read 500 at once", async () => {
  const { asked, among } = visibility({ holds: true });
  expect((await among(MANY.slice(1))).size).toBe(20_000);
  expect(asked).toEqual(Array.from({ length: 40 }, () => "database"));
});
