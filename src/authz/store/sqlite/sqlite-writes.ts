import { type CompiledQuery, sql } from "kysely";
import type { SqliteConnection } from "../../../database/sqlite/sqlite-connection.ts";
import { RELATIONSHIP_COLUMNS, type RelationshipTable, type Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";

/** Any row: only the text of its statement is used. */
const SAMPLE = Object.fromEntries(
  RELATIONSHIP_COLUMNS.map((column) => [column, ""]),
) as unknown as RelationshipTable;

/**
 * The writes of a store in SQLite. One statement per row, since a statement costs very little
 * without a server. The statements are compiled and prepared once, which takes longer than running
 * them.
 */
export class SqliteWrites {
  readonly #connection: SqliteConnection<Tables>;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(connection: SqliteConnection<Tables>) {
    this.#connection = connection;
    this.#statements = prepareStatements(connection);
  }

  /** Writes a batch in one transaction; see `StoreDatabase.write`. */
  write(batch: WriteBatch): boolean {
    const { begin, commit, rollback } = this.#statements;
    begin.run([]);
    try {
      const held = this.#record(batch);
      if (held) this.#change(batch);
      (held ? commit : rollback).run([]);
      return held;
    } catch (error) {
      // On a full disk SQLite has already rolled back.
      if (this.#connection.isTransaction) rollback.run([]);
      throw error;
    }
  }

  /** Numbers the writes; false if another process has taken the store. */
  #record({ before, changes, time, epoch }: WriteBatch): boolean {
    const { record } = this.#statements;
    let number = before;
    for (const updates of changes) {
      const { changes: recorded } = record.run([number + 1, updates, time, epoch]);
      if (Number(recorded) === 0) return false;
      number++;
    }
    return true;
  }

  #change({ removed, created, touched, forgotten }: WriteBatch): void {
    const { remove, create, touch, forget } = this.#statements;
    for (const values of removed) remove.run(values);
    for (const values of created) create.run(values);
    for (const values of touched) touch.run(values);
    for (const sequence of forgotten) forget.run([sequence]);
  }
}

function prepareStatements(connection: SqliteConnection<Tables>) {
  const { kysely } = connection;
  const insert = kysely.insertInto("relationships").values(SAMPLE);
  let remove = kysely.deleteFrom("relationships");
  for (const column of RELATIONSHIP_COLUMNS) remove = remove.where(column, "=", "");
  const record = kysely
    .insertInto("changes")
    .columns(["sequence", "updates", "time"])
    .expression((kysely) =>
      kysely
        .selectFrom("meta")
        .select([
          sql<number>`${0}`.as("sequence"),
          sql<string>`${""}`.as("updates"),
          sql<string>`${""}`.as("time"),
        ])
        .where("epoch", "=", 0),
    );
  const prepare = (query: { compile(): CompiledQuery }) => connection.prepare(query.compile().sql);
  return {
    begin: connection.prepare("begin immediate"),
    commit: connection.prepare("commit"),
    rollback: connection.prepare("rollback"),
    record: prepare(record),
    remove: prepare(remove),
    /** A constraint refuses existing rows. */
    create: prepare(insert),
    touch: prepare(insert.onConflict((conflict) => conflict.doNothing())),
    forget: prepare(kysely.deleteFrom("changes").where("sequence", "<=", 0)),
  };
}
