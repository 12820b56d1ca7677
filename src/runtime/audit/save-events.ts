import type { CompiledQuery, Kysely } from "kysely";
import { AUDIT_COLUMNS, type AuditTables, type NewAuditRow } from "./audit-table.ts";

/** The most events of one statement. */
export const MAX_BATCH = 128;

/** What an outcome adds to the intent. */
const OUTCOME = [
  "state",
  "expires",
  "code",
  "event",
] as const satisfies readonly (keyof NewAuditRow)[];

/** What stands for a value while the statement is compiled. */
interface Placeholder {
  readonly row: number;
  readonly column: keyof NewAuditRow;
}

/**
 * Stores events, in one statement, which is one transaction: an event that is new
 * is added, and one that is pending is completed. One that is completed stays, also
 * where its intent comes late. Statements are compiled once for each number of rows.
 */
export class EventWriter {
  readonly #kysely: Kysely<AuditTables>;
  readonly #compiled: CompiledQuery[] = [];

  constructor(kysely: Kysely<AuditTables>) {
    this.#kysely = kysely;
  }

  /** @param rows from 1 to `MAX_BATCH`, each of another event */
  async save(rows: readonly NewAuditRow[]): Promise<void> {
    const count = rows.length;
    const compiled = this.#compiled[count] ?? compile(this.#kysely, count);
    this.#compiled[count] = compiled;
    const parameters = compiled.parameters.map((parameter) => {
      if (!isPlaceholder(parameter)) return parameter;
      return rows[parameter.row]?.[parameter.column];
    });
    await this.#kysely.executeQuery({ ...compiled, parameters });
  }
}

function isPlaceholder(parameter: unknown): parameter is Placeholder {
  return typeof parameter === "object" && parameter !== null;
}

function compile(kysely: Kysely<AuditTables>, count: number): CompiledQuery {
  const rows = Array.from({ length: count }, (_, row) =>
    Object.fromEntries(AUDIT_COLUMNS.map((column) => [column, { row, column }])),
  ) as unknown as NewAuditRow[];
  return kysely
    .insertInto("audit_events")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet((eb) =>
          // The others are as the intent has them; SQLite would rewrite their indexes all the same.
          Object.fromEntries(OUTCOME.map((name) => [name, eb.ref(`excluded.${name}`)])),
        )
        .where("audit_events.state", "=", "pending"),
    )
    .compile();
}
