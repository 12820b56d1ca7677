import { type CompiledQuery, type Kysely, type QueryCreator, type RawBuilder, sql } from "kysely";
import { RELATIONSHIP_COLUMNS } from "../relationship-row.ts";
import type { RelationshipTable, Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";

/** The tables, and the row that the first part of the statement gives. */
interface FencedTables extends Tables {
  readonly fence: { readonly epoch: number };
}

/** What is put for a parameter when the statement is compiled: it gives the value when it is run. */
interface Parameter {
  readonly of: (batch: WriteBatch) => unknown;
}

/** A statement as `pg` runs it: parsed once under its name. It changes rows where the batch was written. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** How many rows a part has, as far as the text of the statement tells. */
type Rows = "one" | "many";

/** The parts that a batch may do without; leaving them out saves a third of the server's time. */
const PARTS = { removed, created, touched, forgotten };
type Part = keyof typeof PARTS;

/**
 * The statement that writes a batch: one, so that it is one journey and commits
 * by itself, all of it or nothing. Its first part, the fence, counts the writes;
 * the others do what they do for each row that the fence gives, so nothing where
 * another process has taken the store. Rows are arrays, so that its text tells
 * only which parts there are; one row is by itself, for a write by itself is what is waited for most.
 */
export class PostgresStatement {
  readonly #kysely: Kysely<Tables>;
  readonly #compiled = new Map<string, CompiledQuery>();

  constructor(kysely: Kysely<Tables>) {
    this.#kysely = kysely;
  }

  /** The statement of a batch. */
  of(batch: WriteBatch): NamedStatement {
    const shape = new Map<Part | "changes", Rows>();
    for (const part of [...(Object.keys(PARTS) as Part[]), "changes"] as const) {
      const { length } = batch[part];
      if (length > 0) shape.set(part, length === 1 ? "one" : "many");
    }
    const name = [...shape].join(" ");
    let query = this.#compiled.get(name);
    if (query === undefined) {
      query = compile(this.#kysely, shape);
      this.#compiled.set(name, query);
    }
    const values = (query.parameters as readonly Parameter[]).map(({ of }) => of(batch));
    return { name, text: query.sql, values };
  }
}

function compile(
  kysely: Kysely<Tables>,
  shape: ReadonlyMap<Part | "changes", Rows>,
): CompiledQuery {
  let query = kysely.with("fence", (kysely) =>
    kysely
      .updateTable("meta")
      .set({ head: parameter(({ head }) => head) })
      .where(
        "epoch",
        "=",
        parameter(({ epoch }) => epoch),
      )
      .where(
        "head",
        "=",
        parameter(({ before }) => before),
      )
      .returning("epoch"),
  ) as unknown as QueryCreator<FencedTables>;
  for (const part of Object.keys(PARTS) as Part[]) {
    const rows = shape.get(part);
    if (rows === undefined) continue;
    query = query.with(part, (kysely) => PARTS[part](kysely, rows)) as unknown as typeof query;
  }
  return query
    .insertInto("changes")
    .columns(["sequence", "updates", "time"])
    .expression((kysely) =>
      kysely
        .selectFrom(["fence", CHANGES[shape.get("changes") ?? "many"]])
        .select([
          sql<number>`${parameter(({ before }) => before)}::bigint + number`.as("sequence"),
          "updates",
          sql<string>`${parameter(({ time }) => time)}::text`.as("time"),
        ]),
    )
    .compile();
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

function parameter(of: Parameter["of"]): RawBuilder<number> {
  return sql`${{ of } satisfies Parameter}`;
}
