import { type CompiledQuery, type Kysely, type Selectable, sql } from "kysely";
import { RELATIONSHIP_COLUMNS, type RelationshipValues } from "./relationship-row.ts";
import type { ChangeTable, RelationshipTable, Tables } from "./tables.ts";

/** The most rows of a statement: SQLite takes 32,766 parameters, and each number of rows is its own statement. */
const ROWS = 100;
const KEY = sql.join(RELATIONSHIP_COLUMNS.map((column) => sql.ref(column)));
const SAMPLE: RelationshipValues = ["", "", "", "", "", ""];

/**
 * The queries of a store, compiled once each and then run with other
 * parameters: compiling takes longer than SQLite takes to run them.
 */
export class Queries {
  readonly #compiler: Kysely<Tables>;
  readonly #compiled = new Map<string, CompiledQuery>();

  /** `compiler` is of the database's dialect; the queries run on any connection of it. */
  constructor(compiler: Kysely<Tables>) {
    this.#compiler = compiler;
  }

  /** Counts writes; changes nothing where another process has taken the store. */
  advance(before: number, head: number, epoch: number): CompiledQuery {
    const query = this.#once("advance", () =>
      this.#compiler
        .updateTable("meta")
        .set({ head })
        .where("epoch", "=", epoch)
        .where("head", "=", before)
        .compile(),
    );
    return withParameters(query, [head, epoch, before]);
  }

  /** Writes relationships that do not exist: a constraint refuses one that does. */
  create(values: readonly RelationshipValues[]): readonly CompiledQuery[] {
    return this.#eachChunk("create", values, (rows) =>
      this.#compiler.insertInto("relationships").values(rows.map(toRow)).compile(),
    );
  }

  /** Writes relationships that may exist. */
  touch(values: readonly RelationshipValues[]): readonly CompiledQuery[] {
    return this.#eachChunk("touch", values, (rows) =>
      this.#compiler
        .insertInto("relationships")
        .values(rows.map(toRow))
        .onConflict((conflict) => conflict.columns(RELATIONSHIP_COLUMNS).doNothing())
        .compile(),
    );
  }

  /** Removes relationships that may exist. */
  remove(values: readonly RelationshipValues[]): readonly CompiledQuery[] {
    return this.#eachChunk("remove", values, (rows) =>
      this.#compiler
        .deleteFrom("relationships")
        // Of the ways to name many keys, both databases know this one.
        .where(
          sql<boolean>`(${KEY}) in (values ${sql.join(rows.map((row) => sql`(${sql.join([...row])})`))})`,
        )
        .compile(),
    );
  }

  /**
   * Keeps the change of a write. Its number is counted back from what `advance` has put: where
   * that has changed nothing there is none, and PostgreSQL, which is sent all queries of a
   * write at once, refuses the row and so the write.
   */
  record(sequence: number, head: number, epoch: number, updates: string): CompiledQuery {
    const time = new Date().toISOString();
    const query = this.#once("record", () => {
      const number = this.#compiler
        .selectFrom("meta")
        .select(sql<number>`head - ${head - sequence}`.as("sequence"))
        .where("epoch", "=", epoch)
        .where("head", "=", head);
      return this.#compiler
        .insertInto("changes")
        .values({ sequence: sql<number>`(${number})`, updates, time })
        .compile();
    });
    return withParameters(query, [head - sequence, epoch, head, updates, time]);
  }

  /** Forgets the changes up to a number. */
  forget(sequence: number): CompiledQuery {
    return this.#compiler.deleteFrom("changes").where("sequence", "<=", sequence).compile();
  }

  /** The changes behind a number, oldest first. */
  async changes(
    connection: Kysely<Tables>,
    after: number,
    limit: number,
  ): Promise<readonly Pick<Selectable<ChangeTable>, "sequence" | "updates">[]> {
    const query = this.#compiler
      .selectFrom("changes")
      .select(["sequence", "updates"])
      .where("sequence", ">", after)
      .orderBy("sequence")
      .limit(limit)
      .compile();
    return (await connection.executeQuery(query)).rows;
  }

  /** A page of the relationships, in the order of their key, behind the last of the page before. */
  async page(
    connection: Kysely<Tables>,
    after: RelationshipTable | undefined,
    limit: number,
  ): Promise<readonly RelationshipTable[]> {
    let query = this.#compiler.selectFrom("relationships").select(RELATIONSHIP_COLUMNS);
    if (after !== undefined) {
      const last = sql.join(RELATIONSHIP_COLUMNS.map((column) => after[column]));
      query = query.where(sql<boolean>`(${KEY}) > (${last})`);
    }
    for (const column of RELATIONSHIP_COLUMNS) query = query.orderBy(column);
    return (await connection.executeQuery(query.limit(limit).compile())).rows;
  }

  #eachChunk(
    name: string,
    values: readonly RelationshipValues[],
    compile: (rows: readonly RelationshipValues[]) => CompiledQuery,
  ): readonly CompiledQuery[] {
    const queries: CompiledQuery[] = [];
    for (let start = 0; start < values.length; start += ROWS) {
      const chunk = values.slice(start, start + ROWS);
      const query = this.#once(`${name} ${chunk.length}`, () => compile(chunk.map(() => SAMPLE)));
      queries.push(withParameters(query, chunk.flat()));
    }
    return queries;
  }

  #once<Row>(name: string, compile: () => CompiledQuery<Row>): CompiledQuery<Row> {
    let query = this.#compiled.get(name);
    if (query === undefined) {
      query = compile();
      this.#compiled.set(name, query);
    }
    return query as CompiledQuery<Row>;
  }
}

function toRow(values: RelationshipValues): RelationshipTable {
  return Object.fromEntries(
    RELATIONSHIP_COLUMNS.map((column, index) => [column, values[index]]),
  ) as unknown as RelationshipTable;
}

function withParameters<Row>(
  query: CompiledQuery<Row>,
  parameters: readonly unknown[],
): CompiledQuery<Row> {
  return { ...query, parameters };
}
