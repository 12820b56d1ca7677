import type { ColumnType } from "kysely";

/** The tables of a store, the same in SQLite and PostgreSQL. */
export interface Tables {
  readonly relationships: RelationshipTable;
  readonly changes: ChangeTable;
  readonly meta: MetaTable;
  readonly migrations: MigrationTable;
}

/** A row per relationship; all of its columns are the primary key. */
export interface RelationshipTable {
  readonly resource_type: string;
  readonly resource_id: string;
  readonly relation: string;
  readonly subject_type: string;
  readonly subject_id: string;
  /** The relation of a userset; empty for an object itself, for a key holds no NULL. */
  readonly subject_relation: string;
}

/**
 * A row per committed write: only the last ones, and always the very last one, whose number is the
 * store's head.
 */
export interface ChangeTable {
  readonly sequence: Whole;
  /** JSON as `relationship-row.ts` writes it. */
  readonly updates: string;
  /** ISO 8601. */
  readonly time: string;
}

/** The one row about the store. */
export interface MetaTable {
  /** Always 1. */
  readonly singleton: Whole;
  readonly store_id: string;
  /** Counts the processes that took the store: a commit of an earlier one is refused. */
  readonly epoch: Whole;
  /** JSON of `LockHolder`; empty while nobody holds the store. */
  readonly holder: string;
}

/** A row per applied migration. */
export interface MigrationTable {
  readonly version: Whole;
  readonly time: string;
}

/** A whole number; `pg` gives a bigint as a string. */
export type Whole = ColumnType<number | string, number, number>;
