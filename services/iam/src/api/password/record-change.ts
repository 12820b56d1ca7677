import type { CallAudit } from "svc-access/runtime";
import type { ChangeResult } from "./password-changes.ts";

/** Records in the audit what became of a change of the own password. */
export async function recordChange(
  result: ChangeResult,
  accountId: string,
  audit: Pick<CallAudit, "record">,
): Promise<void> {
  const record = (event: string, details: Readonly<Record<string, string | number>>) =>
    audit.record({ event, riskLevel: "MEDIUM", resource: `user:${accountId}`, details });
  const { outcome } = result;
  if (outcome === "changed") {
    await record("password.changed", { sessions: result.endedSessions });
  } else if (outcome === "wrong" || outcome === "slowed") {
    await record("password.change_failed", { reason: outcome });
  }
}
