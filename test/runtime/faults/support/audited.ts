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

/**
 * The events once all waiting ones are stored: no event is pending, and every answered
 * audited call has one. If some are still missing after a while, `expectAudited` fails.
 */
export async function eventsOfAll(
  load: Load,
  server: Server,
): Promise<ReadonlyMap<string, AuditEvent[]>> {
  // Repeated denials of one caller share one event.
  const audited = load.answers.filter((one) => isAcknowledged(one) && one.status === 200);
  let events = new Map<string, AuditEvent[]>();
  await until("the audit events are stored", async () => {
    const page = await server.audit?.list({ state: "pending" }, { pageSize: 500 });
    if (page?.events.every(({ data }) => data.repeats !== undefined) !== true) return false;
    events = await storedEvents(server);
    return audited.every(({ requestId }) => events.has(requestId));
  }).catch(() => undefined);
  return events;
}

/** Every answered audited call has exactly one event, with the response that the caller got. */
export function expectAudited(load: Load, events: ReadonlyMap<string, AuditEvent[]>): void {
  let acknowledged = 0;
  for (const { kind, requestId, status } of load.answers) {
    if (!kind.endsWith("write")) continue;
    const found = events.get(requestId) ?? [];
    expect(found.length, `events of ${requestId}`).toBeLessThanOrEqual(1);
    if (!isAcknowledged({ kind, status })) continue;
    acknowledged++;
    const data = found[0]?.data;
    if (status !== 200 && (data === undefined || data.repeats !== undefined)) continue;
    expect(data?.state, `the state of ${requestId}`).toBe("completed");
    expect(data?.status, `the status of ${requestId}`).toBe(status);
    expect(data?.decision, requestId).toBe(status === 200 ? "allowed" : "denied");
  }
  expect(acknowledged).toBeGreaterThan(0);
}

function isAcknowledged({
  kind,
  status,
}: Pick<Load["answers"][number], "kind" | "status">): boolean {
  return kind.endsWith("write") && status === HEALTHY[kind];
}
