/** Audit events that svc-iam records outside of requests, as another process reads them. */
import type { ServiceDatabase } from "svc-access/database";
import { type AuditEvent, openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { IamTables } from "../../src/ground/store/tables.ts";
import { type IamService, startIam } from "../support/iam-service.ts";

const DAY = 86_400_000;

let iam: IamService;
beforeAll(async () => {
  iam = await startIam();
});
afterAll(() => iam.stop());

async function events(type: string): Promise<readonly AuditEvent[]> {
  const log = await openAuditLog(iam.options.configuration);
  const page = await log.list({ type });
  await log.close();
  return page.events;
}

test("the keys that are made at the start are audited", async () => {
  const made = await events("signing_key.made");
  expect(made.length).toBeGreaterThan(0);
  for (const { source, data } of made) {
    expect(source).toBe("/svc/iam");
    expect(data).toMatchObject({
      rpc: "",
      risk_level: "MEDIUM",
      details: { kid: expect.any(String) },
    });
  }
});

test("a key that a job rotates is audited [IDP-23]", async () => {
  const { kysely } = iam.options.database as ServiceDatabase<IamTables>;
  const [before] = await kysely
    .selectFrom("iam_keys")
    .select("kid")
    .where("state", "=", "current")
    .execute();
  const past = Date.now() - 31 * DAY;
  await kysely.updateTable("iam_keys").set({ create_time: past }).execute();
  await kysely
    .updateTable("iam_keys")
    .set({ current_time: past })
    .where("state", "=", "current")
    .execute();
  const job = iam.options.jobs?.find(({ name }) => name === "provider_key_rotation");
  await job?.run(new AbortController().signal);
  await expect
    .poll(async () => (await events("signing_key.rotated"))[0]?.data, {
      message: "the rotation of the signing key is audited",
    })
    .toMatchObject({
      rpc: "",
      risk_level: "MEDIUM",
      details: { kid: expect.any(String), retired: before?.kid },
    });
});
