import { type CompiledQuery, type Kysely, type QueryCreator, type RawBuilder, sql } from "kysely";
import { RELATIONSHIP_COLUMNS, type RelationshipTable, type Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";

/** The tables, and the row that the first part of the statement gives. */
interface FencedTables extends Tables {
  readonly fence: { readonly epoch: number };
}

/**
 * The placeholder of a parameter when the statement is compiled: it returns the value when the
 * statement runs.
 */
interface Parameter {
  readonly of: (batch: WriteBatch) => unknown;
}

/** How many rows a part has, as far as the text of the statement depends on it. */
type Rows = "one" | "many";

/** The parts that a batch may do without; leaving them out saves a third of the server's time. */
const PARTS = { removed, created, touched, forgotten };
type Part = keyof typeof PARTS;

/**
 * The row about the store, if this process holds it. A process that takes the store changes the
 * row, and so waits for writes under way.
 */
function fence(kysely: QueryCreator<Tables>) {
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
const CHANGES = {
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
function parameter(of: Parameter["of"]): RawBuilder<number> {
  return sql`${{ of } satisfies Parameter}`;
}

/** A statement as `pg` runs it: parsed once under its name. It changes rows where the batch was written. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * The statement that writes a batch: a single one, so that it is one round trip and commits
 * atomically by itself. Its first part, the fence, gives a row only where this process holds the
 * store; the others do what they do for each row that the fence gives, so nothing where another
 * process has taken the store. Rows are arrays, so that its text depends only on which parts there
 * are; a single row is not an array, since a single write is the most frequent case.
 */
export class PostgresStatement {
  readonly #kysely: Kysely<Tables>;
  readonly #compiled = new Map<string, CompiledQuery>();

  constructor(kysely: Kysely<Tables>) {
    this.#kysely = kysely;
  }

  /** The statement of a batch. */
  of(batch: WriteBatch): NamedStatement {
    let name = "changes";
    for (const part of SHAPED) {
      const rows = rowsOf(batch, part);
      if (rows !== undefined) name += ` ${part}:${rows}`;
    }
    let query = this.#compiled.get(name);
    if (query === undefined) {
      query = compile(this.#kysely, batch);
      this.#compiled.set(name, query);
    }
    const values = (query.parameters as readonly Parameter[]).map(({ of }) => of(batch));
    return { name, text: query.sql, values };
  }
}

const NAMES = Object.keys(PARTS) as Part[];
const SHAPED = [...NAMES, "changes"] as const;

/** How many rows a part of a batch has; undefined for none. */
function rowsOf(batch: WriteBatch, part: Part | "changes"): Rows | undefined {
  const { length } = batch[part];
  return length === 0 ? undefined : length === 1 ? "one" : "many";
}

function compile(kysely: Kysely<Tables>, batch: WriteBatch): CompiledQuery {
  let query = kysely.with("fence", fence) as unknown as QueryCreator<FencedTables>;
  for (const part of NAMES) {
    const rows = rowsOf(batch, part);
    if (rows === undefined) continue;
    query = query.with(part, (kysely) => PARTS[part](kysely, rows)) as unknown as typeof query;
  }
  return query
    .insertInto("changes")
    .columns(["sequence", "updates", "time"])
    .expression((kysely) =>
      kysely
        .selectFrom(["fence", CHANGES[rowsOf(batch, "changes") ?? "many"]])
        .select([
          sql<number>`${parameter(({ before }) => before)}::bigint + number`.as("sequence"),
          "updates",
          sql<string>`${parameter(({ time }) => time)}::text`.as("time"),
        ]),
    )
    .compile();
}
