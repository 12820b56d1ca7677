import type { SQLInputValue, StatementSync } from "node:sqlite";

/** A row by the names of its columns. */
export type SqliteRow = Record<string, unknown>;

/**
 * A prepared query that names its columns. Its rows are read as arrays: SQLite would make the texts of
 * the names again for each row, which takes longer than its values.
 */
export class ImmediateRead {
  readonly #statement: StatementSync;
  readonly #names: readonly string[];

  constructor(statement: StatementSync) {
    statement.setReturnArrays(true);
    this.#statement = statement;
    this.#names = statement.columns().map(({ name }) => name);
  }

  /** All rows, or only the first one. */
  rows(parameters: readonly unknown[], isFirst: boolean): SqliteRow[] {
    const values = parameters as readonly SQLInputValue[];
    if (!isFirst) return this.#statement.all(...values).map((row) => this.#named(row));
    const row = this.#statement.get(...values);
    return row === undefined ? [] : [this.#named(row)];
  }

  /** @param row the values in the order of the columns */
  #named(row: unknown): SqliteRow {
    const values = row as readonly unknown[];
    const named: SqliteRow = {};
    for (let column = 0; column < values.length; column++) {
      named[this.#names[column] as string] = values[column];
    }
    return named;
  }
}
