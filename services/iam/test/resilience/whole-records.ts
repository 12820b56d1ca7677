import { expect } from "vitest";
import { query } from "../../../../test/support/postgres.ts";
import { until } from "../../../../test/support/until.ts";
import type { Platform } from "./platform.ts";

/** Lets the time pass after which nothing is under way any more, and waits until all is decided. */
export async function settle(url: string): Promise<void> {
  const past = 3_600_000;
  await until("all that was begun has ended", async () => {
    await query(url, `update svc_access.iam_groups set state_time = state_time - ${past}`);
    await query(
      url,
      `update svc_access.pending_removals set due_time = due_time - ${past}, empty_time = empty_time - ${past}`,
    );
    const [row] = await query(
      url,
      `select (select count(*) from svc_access.iam_groups where state <> 'ready')
        + (select count(*) from svc_access.pending_removals) as left`,
    );
    return Number(row?.["left"]) === 0;
  });
}

/** Each relationship is of records that there are, and each group has its zone and its first owner. */
export async function expectWhole(platform: Platform): Promise<void> {
  const idsOf = async (table: string) => {
    const rows = await query(platform.databaseUrl, `select id from svc_access.${table}`);
    return new Set(rows.map(({ id }) => id as string));
  };
  const [groups, users] = [await idsOf("iam_groups"), await idsOf("iam_users")];
  const relationships = await platform.relationships("group");
  for (const { resource, subject } of relationships) {
    expect(groups).toContain(resource.id);
    if (subject.type === "user") expect(users).toContain(subject.id);
  }
  for (const relation of ["zone", "owner"]) {
    const having = relationships.filter((one) => one.relation === relation);
    expect(new Set(having.map(({ resource }) => resource.id))).toEqual(groups);
  }
}
