import type { RiskLevel } from "../api/policy.ts";

/** A further event of a call, of the handler's own (`context.audit.record`). */
export interface AuditRecord {
  /** Lower-case words joined by dots, such as `session.revoke`; at most 128 characters. */
  readonly event: string;
  /** LOW where absent. */
  readonly riskLevel?: RiskLevel;
  /** The object that it is about, as `type:id`. */
  readonly resource?: string;
  /**
   * What else there is to say: at most 16 short facts, by names of lower-case letters, digits
   * and `_`. Never a secret: what looks like one, or has the name of one, is left out.
   */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** What a handler adds to the audit of its call. */
export interface CallAudit {
  /**
   * Names the object that the call is about, such as one that the handler created, in the place of
   * that of the policy; what was authorized stays in the event. Without effect where the RPC is not audited.
   *
   * @param resource `type:id`
   * @throws TypeError where that is not a valid object; Error once the event was completed
   */
  setResource(resource: string): void;
  /**
   * Stores a further event, linked to the call. Resolves when it is stored, or waits for the database.
   * A call records at most 100. Work that outlasts the call may still record: what it does must not go
   * unrecorded because its caller has hung up.
   *
   * @throws TypeError for an event that is not valid; RangeError for one too many; Error where the
   * service has no database, or its server has ended
   */
  record(event: AuditRecord): Promise<void>;
}

/** Of a service without a database. */
export const NO_AUDIT: CallAudit = {
  setResource() {},
  async record() {
    throw new Error(
      "audit events cannot be stored: configure database, such as {driver: sqlite, file: …}",
    );
  },
};
