import { expect } from "vitest";
import type { AuditEvent, Server } from "../../../../src/runtime/index.ts";
import { HEALTHY } from "./calls.ts";
import type { Load } from "./load.ts";
import { until } from "./until.ts";

/** All stored events, by request id. */
export async function storedEvents({ audit }: Server): Promise<Map<string, AuditEvent[]>> {
  if (audit === undefined) throw new Error("there is no audit log");
  const events = new Map<string, AuditEvent[]>();
  let cursor: string | undefined;
  do {
    const page = await audit.list(
      {},
      { pageSize: 500, ...(cursor === undefined ? {} : { cursor }) },
    );
    for (const event of page.events) {
      const id = event.data.request_id;
      events.set(id, [...(events.get(id) ?? []), event]);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return events;
}

/** Waits until no event is pending: what waited in memory for the database is stored. */
export async function untilCompleted(server: Server): Promise<void> {
  await until("no audit event is pending", async () => {
    const page = await server.audit?.list({ state: "pending" }, { pageSize: 1 });
    return page?.events.length === 0;
  });
}

/** Every audited call that was answered has its one event, and the event says what the caller was told. */
export function expectAudited(load: Load, events: ReadonlyMap<string, AuditEvent[]>): void {
  let acknowledged = 0;
  for (const { kind, requestId, status } of load.answers) {
    if (!kind.endsWith("write")) continue;
    const found = events.get(requestId) ?? [];
    expect(found.length, `events of ${requestId}`).toBeLessThanOrEqual(1);
    if (status !== HEALTHY[kind]) continue;
    acknowledged++;
    const data = found[0]?.data;
    expect(data?.state, `the state of ${requestId}`).toBe("completed");
    expect(data?.status, `the status of ${requestId}`).toBe(status);
    expect(data?.decision, requestId).toBe(status === 200 ? "allowed" : "denied");
  }
  expect(acknowledged).toBeGreaterThan(0);
}
