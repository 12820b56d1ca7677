import type { RelationshipUpdate, WriteOperation } from "../engine/requests.ts";
import { encodeUpdates, type RelationshipValues, toValues } from "./tables.ts";

/** The writes of one commit, as what they change together. No relationship is in it twice. */
export interface WriteBatch {
  /** The number of the last write before these. */
  readonly before: number;
  /**
   * The epoch of the committing process: if another process has taken the store since, nothing is
   * written.
   */
  readonly epoch: number;
  readonly removed: readonly RelationshipValues[];
  /** What must not exist yet. */
  readonly created: readonly RelationshipValues[];
  readonly touched: readonly RelationshipValues[];
  /** The updates of each write, in their order, as JSON. */
  readonly changes: readonly string[];
  /** ISO 8601. */
  readonly time: string;
  /** The number up to which changes are no longer kept; empty if none are removed now. */
  readonly forgotten: readonly number[];
}

/** What a batch needs besides the updates. */
export type BatchPlace = Pick<WriteBatch, "before" | "epoch" | "forgotten">;

/** Puts the writes of one commit together. */
export function writeBatch(
  writes: readonly (readonly RelationshipUpdate[])[],
  place: BatchPlace,
): WriteBatch {
  const removed: RelationshipValues[] = [];
  const created: RelationshipValues[] = [];
  const touched: RelationshipValues[] = [];
  for (const { operation, row } of netEffect(writes)) {
    (operation === "CREATE" ? created : operation === "TOUCH" ? touched : removed).push(row);
  }
  return {
    ...place,
    removed,
    created,
    touched,
    changes: writes.map(encodeUpdates),
    time: new Date().toISOString(),
  };
}

interface Effect {
  readonly operation: WriteOperation;
  readonly row: RelationshipValues;
}

/**
 * The combined effect of successive writes on each relationship: a statement sees the rows before
 * it, not its own.
 */
function netEffect(writes: readonly (readonly RelationshipUpdate[])[]): Iterable<Effect> {
  // One write names a relationship once.
  if (writes.length === 1) return (writes[0] ?? []).map(toEffect);
  const effects = new Map<string, Effect>();
  for (const { operation, row } of writes.flat().map(toEffect)) {
    const key = JSON.stringify(row);
    const before = effects.get(key)?.operation;
    effects.set(key, { operation: netOperation(before, operation, key), row });
  }
  return effects.values();
}

function toEffect({ operation, relationship }: RelationshipUpdate): Effect {
  return { operation, row: toValues(relationship) };
}

function netOperation(
  before: WriteOperation | undefined,
  operation: WriteOperation,
  key: string,
): WriteOperation {
  if (before === undefined || operation === "DELETE") return operation;
  // After a DELETE these writes no longer have the relationship, but the table may.
  if (before === "DELETE") return "TOUCH";
  if (operation === "CREATE") throw new Error(`${key} is created twice`);
  return before;
}
