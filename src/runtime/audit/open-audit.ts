import { randomUUID } from "node:crypto";
import type { Logger } from "../../common/logger.ts";
import type { Database } from "../../database/database.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { AuditTrail } from "../chain/call-stages.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import { auditedObject } from "./event/describe-call.ts";
import { type AuditLog, StoredAuditLog } from "./log/audit-log.ts";
import { openAuditTables } from "./open-audit-tables.ts";
import { keepFor, type RetentionOptions } from "./retention/retention.ts";
import { EventQueue } from "./tables/event-queue.ts";
import { EventWriter } from "./tables/save-events.ts";
import { StoredAuditTrail } from "./trail/stored-audit-trail.ts";

/** The options of audit. */
export interface AuditOptions {
  readonly methods: readonly BoundMethod[];
  /** Where events are kept; the caller closes it, after audit. Absent if none is configured. */
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  readonly database: Database<any> | undefined;
  /** The name of the deployed service. */
  readonly service: string;
  /** The name of this process among its replicas; a random one if absent. */
  readonly instance?: string;
  readonly logger: Logger;
  readonly events: RuntimeEvents;
  /** How long events are kept, in milliseconds; indefinitely if absent. */
  readonly maxAgeMs?: number;
  readonly retention?: RetentionOptions;
}

/** The audit of a service. */
export interface ServiceAudit {
  readonly trail: AuditTrail;
  /** The stored events; absent if no database is configured. */
  readonly log: AuditLog | undefined;
  /** Resolves once no handler of an audited call runs whose caller no longer waits. */
  settled(): Promise<void>;
  /** Stores the waiting events, as far as that is possible. Calls have ended before. */
  close(): Promise<void>;
}

/** The reasons why audit is impossible, one line each, so that the server does not start. */
export function auditProblems(
  methods: readonly BoundMethod[],
  database: object | undefined,
): readonly string[] {
  const audited = methods.filter(({ policy }) => policy.audit !== undefined);
  const unclear = audited.flatMap(objectProblem);
  const [first] = audited;
  if (first === undefined || database !== undefined) return unclear;
  const others = audited.length === 1 ? "" : ` and ${audited.length - 1} more`;
  return [
    ...unclear,
    `${first.rpc}${others} must be audited, but there is no database: configure database, such as {driver: sqlite, file: …}`,
  ];
}

function objectProblem(method: BoundMethod): string[] {
  try {
    auditedObject(method);
    return [];
  } catch (error) {
    return [
      `the audit events of ${method.rpc} could never name their object: ${(error as Error).message}`,
    ];
  }
}

/** The trail if no RPC is audited. */
const NO_TRAIL: AuditTrail = { begin() {}, complete() {}, outlast() {} };

/**
 * Opens the audit of a service, and creates its tables if there is a database.
 *
 * @throws Error that says the fix: an RPC is audited and there is no database, or
 * the database is down
 */
export async function openAudit(options: AuditOptions): Promise<ServiceAudit> {
  const { methods, database, service, instance = randomUUID(), logger, events } = options;
  const [problem] = auditProblems(methods, database);
  if (problem !== undefined) throw new Error(problem);
  if (database === undefined)
    return { trail: NO_TRAIL, log: undefined, settled: async () => {}, close: async () => {} };
  const tables = await openAuditTables(database, options.maxAgeMs);
  const writer = new EventWriter(tables);
  const queue = new EventQueue({
    save: (rows) => writer.save(rows),
    explain: (error) => database.explain(error),
    logger,
    events,
  });
  const stop =
    options.maxAgeMs === undefined
      ? async () => {}
      : keepFor(options.maxAgeMs, tables, logger, options.retention);
  const trail = new StoredAuditTrail({ service, instance }, queue, logger, events);
  const log = new StoredAuditLog(tables);
  return {
    trail,
    log,
    settled: () => trail.settled(),
    close: async () => {
      log.close();
      await stop();
      await trail.close();
      await queue.close();
    },
  };
}
