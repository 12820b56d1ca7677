import type { NewAuditRow } from "./audit-table.ts";

/** Outcomes that wait to be stored, oldest first; bounded, for the database may be down for long. */
export class Backlog {
  readonly #limit: number;
  readonly #rows = new Map<string, NewAuditRow>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Adds an outcome, and gives the oldest, which has no room any more. */
  add(row: NewAuditRow): NewAuditRow | undefined {
    this.#rows.set(row.id, row);
    if (this.#rows.size <= this.#limit) return undefined;
    const [oldest] = this.#rows.values();
    if (oldest !== undefined) this.#rows.delete(oldest.id);
    return oldest;
  }

  /** The oldest ones; they stay. */
  first(count: number): NewAuditRow[] {
    const rows: NewAuditRow[] = [];
    for (const row of this.#rows.values()) {
      if (rows.length === count) break;
      rows.push(row);
    }
    return rows;
  }

  remove(rows: readonly NewAuditRow[]): void {
    for (const { id } of rows) this.#rows.delete(id);
  }
}
