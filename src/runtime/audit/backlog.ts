import type { NewAuditRow } from "./audit-table.ts";

/**
 * Outcomes that wait to be stored, oldest first; bounded, for the database may be down for long.
 * What was done is kept before what was refused: refusals anybody can cause, without end.
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

  /** Adds an outcome, and gives the oldest of those that have no room any more. */
  add(row: NewAuditRow): NewAuditRow | undefined {
    const rows = row.code === "OK" ? this.#done : this.#refused;
    rows.set(row.id, row);
    if (this.size <= this.#limit) return undefined;
    const spare = this.#refused.size > 0 ? this.#refused : this.#done;
    const [oldest] = spare.values();
    if (oldest !== undefined) spare.delete(oldest.id);
    return oldest;
  }

  /** The oldest ones, those of what was done first; they stay. */
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
