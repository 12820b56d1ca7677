import { type ColumnType, type Kysely, type Selectable, sql } from "kysely";
import type { Relationship } from "../../model/relationship.ts";
import type { RelationshipUpdate, WriteOperation } from "../engine/requests.ts";

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
  /** JSON as `encodeUpdates` writes it. */
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

/** The columns of a relationship in the order of the primary key. */
export const RELATIONSHIP_COLUMNS = [
  "resource_type",
  "resource_id",
  "relation",
  "subject_type",
  "subject_id",
  "subject_relation",
] as const satisfies readonly (keyof RelationshipTable)[];

/** The values of a relationship in the order of `RELATIONSHIP_COLUMNS`. */
export type RelationshipValues = readonly [string, string, string, string, string, string];

/** What is stored of a relationship. */
export function toValues({ resource, relation, subject }: Relationship): RelationshipValues {
  return [resource.type, resource.id, relation, subject.type, subject.id, subject.relation ?? ""];
}

/** The relationship that was stored. */
export function fromRow(row: RelationshipTable): Relationship {
  const { subject_type: type, subject_id: id, subject_relation: relation } = row;
  return {
    resource: { type: row.resource_type, id: row.resource_id },
    relation: row.relation,
    subject: relation === "" ? { type, id } : { type, id, relation },
  };
}

/** An update in its stored form, which is short because there are many. */
type Entry = readonly [WriteOperation, ...RelationshipValues];

/** The updates of a write as JSON. */
export function encodeUpdates(updates: readonly RelationshipUpdate[]): string {
  return JSON.stringify(
    updates.map(({ operation, relationship }): Entry => [operation, ...toValues(relationship)]),
  );
}

/** The updates that `encodeUpdates` wrote. */
export function decodeUpdates(text: string): readonly RelationshipUpdate[] {
  return (JSON.parse(text) as readonly Entry[]).map(
    ([operation, resourceType, resourceId, relation, type, id, subjectRelation]) => ({
      operation,
      relationship: {
        resource: { type: resourceType, id: resourceId },
        relation,
        subject: subjectRelation === "" ? { type, id } : { type, id, relation: subjectRelation },
      },
    }),
  );
}

const KEY = sql.join(RELATIONSHIP_COLUMNS.map((column) => sql.ref(column)));

/** Reads the changes after a number, oldest first. */
export function readChanges(
  connection: Kysely<Tables>,
  after: number,
  limit: number,
): Promise<readonly Pick<Selectable<ChangeTable>, "sequence" | "updates">[]> {
  return connection
    .selectFrom("changes")
    .select(["sequence", "updates"])
    .where("sequence", ">", after)
    .orderBy("sequence")
    .limit(limit)
    .execute();
}

/** Reads a page of the relationships, in the order of their key, after the last of the page before. */
export function readPage(
  connection: Kysely<Tables>,
  after: RelationshipTable | undefined,
  limit: number,
): Promise<readonly RelationshipTable[]> {
  let query = connection.selectFrom("relationships").select(RELATIONSHIP_COLUMNS);
  if (after !== undefined) {
    const last = sql.join(RELATIONSHIP_COLUMNS.map((column) => after[column]));
    query = query.where(sql<boolean>`(${KEY}) > (${last})`);
  }
  for (const column of RELATIONSHIP_COLUMNS) query = query.orderBy(column);
  return query.limit(limit).execute();
}
