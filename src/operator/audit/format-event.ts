import { printable } from "../../common/printable.ts";
import type { AuditEvent } from "../../runtime/audit/event/audit-event.ts";

/** An event as a line of text: time, result, risk, type, caller, object. */
export function formatEvent({ time, type, data }: AuditEvent): string {
  const { state, risk_level, principal, rpc, resource, decision, code, duration_ms, repeats } =
    data;
  const parts = [
    time,
    state === "completed" ? code : state.toUpperCase(),
    risk_level,
    type,
    principal === undefined ? "-" : `${principal.type}:${principal.id}`,
    resource ?? "-",
    decision,
    // Events that were recorded outside of calls have neither.
    rpc || "-",
    repeats === undefined ? undefined : `×${repeats.count} until ${repeats.last}`,
    duration_ms === undefined ? undefined : `${Math.round(duration_ms)}ms`,
    data.request_id || "-",
  ];
  return printable(parts.filter((part) => part !== undefined).join(" "));
}
