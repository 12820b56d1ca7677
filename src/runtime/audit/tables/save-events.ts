import type { CompiledQuery } from "kysely";
import type { Database } from "../../../database/database.ts";
import { AUDIT_COLUMNS, type AuditTables, type NewAuditRow } from "./audit-table.ts";
import { nextChange } from "./change-order.ts";

/** The most events of one statement. */
export const MAX_BATCH = 128;

/** The columns that an outcome adds to the intent. */
const OUTCOME = [
  "state",
  "expires",
  "code",
  "resource",
  "event",
] as const satisfies readonly (keyof NewAuditRow)[];

/** The placeholder of a value while the statement is compiled. */
interface Placeholder {
  readonly row: number;
  readonly column: keyof NewAuditRow;
}

/**
 * Stores events, in one statement, which is one transaction: an event that is new is added, and one
 * that is pending is completed. A completed event is not changed, even if its intent arrives late.
 * Statements are compiled once for each number of rows.
 */
export class EventWriter {
  readonly #database: Database<AuditTables>;
  readonly #compiled: CompiledQuery[] = [];

  constructor(database: Database<AuditTables>) {
    this.#database = database;
  }

  /** @param rows from 1 to `MAX_BATCH`, each of another event */
  async save(rows: readonly NewAuditRow[]): Promise<void> {
    const count = rows.length;
    const compiled = this.#compiled[count] ?? compile(this.#database, count);
    this.#compiled[count] = compiled;
    const parameters = compiled.parameters.map((parameter) => {
      if (!isPlaceholder(parameter)) return parameter;
      return rows[parameter.row]?.[parameter.column];
    });
    await this.#database.kysely.executeQuery({ ...compiled, parameters });
  }
}

function isPlaceholder(parameter: unknown): parameter is Placeholder {
  return typeof parameter === "object" && parameter !== null;
}

function compile(database: Database<AuditTables>, count: number): CompiledQuery {
  const change = nextChange(database);
  const rows = Array.from({ length: count }, (_, row) => ({
    ...(Object.fromEntries(
      AUDIT_COLUMNS.map((column) => [column, { row, column }]),
    ) as unknown as NewAuditRow),
    change,
  }));
  return database.kysely
    .insertInto("audit_events")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet((eb) =>
          // The others are the same as in the intent; SQLite would rewrite their indexes all the
          // same.
          Object.fromEntries(
            [...OUTCOME, "change" as const].map((name) => [name, eb.ref(`excluded.${name}`)]),
          ),
        )
        .where("audit_events.state", "=", "pending"),
    )
    .compile();
}

/**
 * Outcomes that wait to be stored, oldest first; bounded, since the database may be down for long.
 * Outcomes of handlers take precedence over refusals, which anybody can cause without limit.
 */
export class Backlog {
  readonly #limit: number;
  readonly #done = new Map<string, NewAuditRow>();
  readonly #refused = new Map<string, NewAuditRow>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#done.size + this.#refused.size;
  }

  /** Adds an outcome, and returns the oldest of those that no longer fit. */
  add(row: NewAuditRow): NewAuditRow | undefined {
    const rows = row.code === "OK" ? this.#done : this.#refused;
    rows.set(row.id, row);
    if (this.size <= this.#limit) return undefined;
    const spare = this.#refused.size > 0 ? this.#refused : this.#done;
    const [oldest] = spare.values();
    if (oldest !== undefined) spare.delete(oldest.id);
    return oldest;
  }

  /** The oldest ones, outcomes of handlers first; they stay in the queue. */
  first(count: number): NewAuditRow[] {
    const rows: NewAuditRow[] = [];
    for (const from of [this.#done, this.#refused]) {
      for (const row of from.values()) {
        if (rows.length === count) return rows;
        rows.push(row);
      }
    }
    return rows;
  }

  remove(rows: readonly NewAuditRow[]): void {
    for (const { id } of rows) {
      this.#done.delete(id);
      this.#refused.delete(id);
    }
  }
}
