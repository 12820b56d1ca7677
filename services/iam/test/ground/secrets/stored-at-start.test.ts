import { expect, onTestFinished, test } from "vitest";
import { databaseOf, startSelf } from "../../support/browser-login.ts";

test("a start stores the ids of its encryption keys, for the logs of other replicas", async () => {
  const service = await startSelf();
  onTestFinished(() => service.stop());
  const { kysely } = databaseOf(service);
  const rows = await kysely.selectFrom("iam_encryption_key_ids").select("id").execute();
  expect(rows.length).toBeGreaterThan(0);
});
