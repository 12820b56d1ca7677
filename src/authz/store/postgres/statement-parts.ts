import { type QueryCreator, type RawBuilder, sql } from "kysely";
import { RELATIONSHIP_COLUMNS } from "../relationship-row.ts";
import type { RelationshipTable, Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";

/** The tables, and the row that the first part of the statement gives. */
export interface FencedTables extends Tables {
  readonly fence: { readonly epoch: number };
}

/**
 * The placeholder of a parameter when the statement is compiled: it returns the value when the
 * statement runs.
 */
export interface Parameter {
  readonly of: (batch: WriteBatch) => unknown;
}

/** How many rows a part has, as far as the text of the statement depends on it. */
export type Rows = "one" | "many";

/** The parts that a batch may do without; leaving them out saves a third of the server's time. */
export const PARTS = { removed, created, touched, forgotten };
export type Part = keyof typeof PARTS;

/**
 * The row about the store, if this process holds it. A process that takes the store changes the
 * row, and so waits for writes under way.
 */
export function fence(kysely: QueryCreator<Tables>) {
  const epoch = parameter((batch) => batch.epoch);
  return kysely.selectFrom("meta").select("epoch").where("epoch", "=", epoch).forShare();
}

function removed(kysely: QueryCreator<FencedTables>, rows: Rows) {
  const query = kysely.deleteFrom("relationships").using(["fence", ROWS[rows]("removed")]);
  return RELATIONSHIP_COLUMNS.reduce(
    (query, column) => query.whereRef(`relationships.${column}`, "=", `row.${column}`),
    query,
  );
}

function created(kysely: QueryCreator<FencedTables>, rows: Rows) {
  return insert(kysely, ROWS[rows]("created"));
}

function touched(kysely: QueryCreator<FencedTables>, rows: Rows) {
  return insert(kysely, ROWS[rows]("touched")).onConflict((conflict) => conflict.doNothing());
}

function insert(kysely: QueryCreator<FencedTables>, rows: ReturnType<typeof manyRows>) {
  return kysely
    .insertInto("relationships")
    .columns(RELATIONSHIP_COLUMNS)
    .expression((kysely) => kysely.selectFrom(["fence", rows]).select(RELATIONSHIP_COLUMNS));
}

function forgotten(kysely: QueryCreator<FencedTables>) {
  return kysely
    .deleteFrom("changes")
    .using("fence")
    .where(
      "sequence",
      "<=",
      parameter((batch) => batch.forgotten[0]),
    );
}

/** The relationships of a part as rows. */
const ROWS = { one: oneRow, many: manyRows };

function oneRow(part: "removed" | "created" | "touched") {
  const values = RELATIONSHIP_COLUMNS.map(
    (column, index) =>
      sql`${parameter((batch) => batch[part][0]?.[index])}::text as ${sql.ref(column)}`,
  );
  return sql<RelationshipTable>`(select ${sql.join(values)})`.as<"row">(sql`row`);
}

function manyRows(part: "removed" | "created" | "touched") {
  const arrays = RELATIONSHIP_COLUMNS.map(
    (_, index) => sql`${parameter((batch) => batch[part].map((values) => values[index]))}::text[]`,
  );
  const columns = RELATIONSHIP_COLUMNS.map((column) => sql.ref(column));
  return sql<RelationshipTable>`unnest(${sql.join(arrays)})`.as<"row">(
    sql`row(${sql.join(columns)})`,
  );
}

interface NumberedChange {
  readonly updates: string;
  readonly number: number;
}

/** The changes of the writes, numbered from 1. */
export const CHANGES = {
  one: sql<NumberedChange>`
    (select ${parameter(({ changes }) => changes[0])}::text as updates, 1 as number)`.as<"change">(
    sql`change`,
  ),
  many: sql<NumberedChange>`
    unnest(${parameter(({ changes }) => changes)}::text[]) with ordinality`.as<"change">(
    sql`change(updates, number)`,
  ),
};

/** A value of the batch. */
export function parameter(of: Parameter["of"]): RawBuilder<number> {
  return sql`${{ of } satisfies Parameter}`;
}
