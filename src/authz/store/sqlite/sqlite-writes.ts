import type { Kysely } from "kysely";
import { RELATIONSHIP_COLUMNS } from "../relationship-row.ts";
import type { RelationshipTable, Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** Any row: only the text of its statement is used. */
const SAMPLE = Object.fromEntries(
  RELATIONSHIP_COLUMNS.map((column) => [column, ""]),
) as unknown as RelationshipTable;

/**
 * The writes of a store in SQLite. A row a statement, for without a server in
 * between a statement costs next to nothing. The statements are compiled once:
 * compiling takes longer than SQLite takes to run them.
 */
export class SqliteWrites {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof compileStatements>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = compileStatements(connection.kysely);
  }

  /** Writes a batch in one transaction; see `StoreDatabase.write`. */
  write(batch: WriteBatch): boolean {
    this.#connection.run("begin immediate");
    try {
      const held = this.#advance(batch);
      if (held) this.#change(batch);
      this.#connection.run(held ? "commit" : "rollback");
      return held;
    } catch (error) {
      // A full disk has rolled back by itself.
      if (this.#connection.isTransaction) this.#connection.run("rollback");
      throw error;
    }
  }

  #advance({ before, head, epoch }: WriteBatch): boolean {
    return this.#connection.run(this.#statements.advance, [head, epoch, before]) > 0;
  }

  #change({ removed, created, touched, before, changes, time, forgotten }: WriteBatch): void {
    const { remove, create, touch, record, forget } = this.#statements;
    for (const values of removed) this.#connection.run(remove, values);
    for (const values of created) this.#connection.run(create, values);
    for (const values of touched) this.#connection.run(touch, values);
    for (const [index, updates] of changes.entries()) {
      this.#connection.run(record, [before + index + 1, updates, time]);
    }
    for (const sequence of forgotten) this.#connection.run(forget, [sequence]);
  }
}

function compileStatements(kysely: Kysely<Tables>) {
  const insert = kysely.insertInto("relationships").values(SAMPLE);
  const advance = kysely
    .updateTable("meta")
    .set({ head: 0 })
    .where("epoch", "=", 0)
    .where("head", "=", 0);
  let remove = kysely.deleteFrom("relationships");
  for (const column of RELATIONSHIP_COLUMNS) remove = remove.where(column, "=", "");
  return {
    /** Counts the writes; changes nothing where another process has taken the store. */
    advance: advance.compile().sql,
    remove: remove.compile().sql,
    /** A constraint refuses what exists. */
    create: insert.compile().sql,
    touch: insert.onConflict((conflict) => conflict.doNothing()).compile().sql,
    record: kysely.insertInto("changes").values({ sequence: 0, updates: "", time: "" }).compile()
      .sql,
    forget: kysely.deleteFrom("changes").where("sequence", "<=", 0).compile().sql,
  };
}
