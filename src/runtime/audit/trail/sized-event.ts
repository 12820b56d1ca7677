import { type AuditEvent, MAX_TEXT } from "../event/audit-event.ts";
import { type NewAuditRow, rowOf } from "../tables/audit-table.ts";

/** The most bytes of an event, as JSON. */
export const MAX_EVENT_BYTES = 4096;

/** How long texts may be if the event is too large. With the last one every event fits. */
const SHORTER = [160, 20] as const;

/** An event that is small enough to be stored and logged, and its row. */
export interface SizedEvent {
  readonly event: AuditEvent;
  readonly row: NewAuditRow;
}

/**
 * Makes an event of at most `MAX_EVENT_BYTES`: long texts are truncated, with a mark. Its columns
 * are not, so that filters find it.
 *
 * @param describe makes the event, with texts of at most so many UTF-16 units
 */
export function sizedEvent(
  time: number,
  expires: number,
  describe: (maxText: number) => AuditEvent,
): SizedEvent {
  const event = describe(MAX_TEXT);
  const row = rowOf(event, time, expires);
  if (fits(row.event)) return { event, row };
  for (const maxText of SHORTER) {
    const shorter = describe(maxText);
    const json = JSON.stringify(shorter);
    if (fits(json)) return { event: shorter, row: { ...row, event: json } };
  }
  throw new Error(`an event of ${event.type} has more than ${MAX_EVENT_BYTES} bytes`);
}

function fits(json: string): boolean {
  return json.length * 3 <= MAX_EVENT_BYTES || Buffer.byteLength(json) <= MAX_EVENT_BYTES;
}
