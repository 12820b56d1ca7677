import { expect, test } from "vitest";
import type { AuditEvent } from "../../../src/runtime/index.ts";
import { until } from "../../support/until.ts";
import { shareDocument, startVault } from "../support/vault-server.ts";

test("the event in the log equals the stored one: nothing in the decision is redacted as a secret [AUDIT-4]", async () => {
  const vault = await startVault();
  try {
    await shareDocument(vault.engine);
    for (const caller of ["alice", "mallory"]) {
      await fetch(`http://127.0.0.1:${vault.http}/v1/documents/open`, {
        method: "PUT",
        headers: { "x-svc-external-sub": caller, "content-type": "application/json" },
        body: JSON.stringify({ text: "new" }),
      });
    }
    await until("both are in the log", () => logged(vault.lines).length === 2);
    const stored = await vault.server.audit?.list();
    expect(new Set(logged(vault.lines))).toEqual(new Set(stored?.events));
  } finally {
    await vault.stop();
  }
  expect(logged(vault.lines).map(({ data }) => data.authz)).toEqual([
    {
      subject: "user:alice",
      action: "edit",
      resource: "document:open",
      revision: expect.any(String),
      decision: "allowed",
    },
    {
      subject: "user:mallory",
      action: "edit",
      resource: "document:open",
      revision: expect.any(String),
      decision: "denied",
    },
  ]);
});

function logged(lines: readonly string[]): AuditEvent[] {
  return lines
    .map((line) => (JSON.parse(line) as { audit?: AuditEvent }).audit)
    .filter((event) => event !== undefined);
}
