/** Audit events that svc-iam records outside of requests, as another process reads them. */
import { openAuditLog } from "svc-access/runtime";
import { expect, test } from "vitest";
import { startIam } from "../support/iam-service.ts";

test("the keys that are made at the start are audited", async () => {
  const iam = await startIam();
  await iam.stop();
  const log = await openAuditLog(iam.options.configuration);
  const { events } = await log.list({ type: "signing_key.made" });
  await log.close();
  expect(events.length).toBeGreaterThan(0);
  for (const { source, data } of events) {
    expect(source).toBe("/svc/iam");
    expect(data).toMatchObject({
      rpc: "",
      risk_level: "MEDIUM",
      details: { kid: expect.any(String) },
    });
  }
});
