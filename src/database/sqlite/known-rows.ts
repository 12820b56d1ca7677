import type { CompiledQuery } from "kysely";

/** How many answers are kept of a query. */
const ANSWERS = 1000;
/** The longest parameter, and how much of a row is kept, in UTF-16 units. */
const LONGEST_PARAMETER = 256;
const LARGEST_ROW = 4096;
/** What calls a function, such as one of the time, may have another answer though nothing has changed. */
const MAY_CALL = /\(|\bcurrent_/i;

/**
 * The first rows of queries by one text, such as of a user by the identifier, as they were last read:
 * a console asks for the same ones with each page. Whoever reads them makes sure that nothing
 * stored has changed since.
 */
export class KnownRows {
  /** A query that nobody runs any more takes its answers along. */
  #answers = new WeakMap<CompiledQuery, Map<string, readonly unknown[]>>();
  #isEmpty = true;
  /** Whether the answer of a query depends on what is stored only. */
  readonly #isOfStored = new WeakMap<CompiledQuery, boolean>();

  /** @returns undefined if they are not known */
  find(query: CompiledQuery, parameters: readonly unknown[]): readonly unknown[] | undefined {
    return parameters.length === 1
      ? this.#answers.get(query)?.get(parameters[0] as string)
      : undefined;
  }

  /** Keeps what was read; nothing if it is large, or not the answer of a query by one text. */
  keep(
    query: CompiledQuery,
    parameters: readonly unknown[],
    rows: readonly Readonly<Record<string, unknown>>[],
  ): void {
    const [parameter] = parameters;
    if (parameters.length !== 1 || typeof parameter !== "string") return;
    if (parameter.length > LONGEST_PARAMETER || sizeOf(rows[0]) > LARGEST_ROW) return;
    let answers = this.#answers.get(query);
    if (answers === undefined) {
      if (!this.#keeps(query)) return;
      answers = new Map();
      this.#answers.set(query, answers);
      this.#isEmpty = false;
    }
    if (answers.size >= ANSWERS) {
      const [oldest = ""] = answers.keys();
      answers.delete(oldest);
    }
    // All who ask have the same one.
    if (rows[0] !== undefined) Object.freeze(rows[0]);
    answers.set(parameter, Object.freeze(rows));
  }

  #keeps(query: CompiledQuery): boolean {
    let keeps = this.#isOfStored.get(query);
    if (keeps === undefined) {
      keeps = !MAY_CALL.test(query.sql);
      this.#isOfStored.set(query, keeps);
    }
    return keeps;
  }

  clear(): void {
    // Where writes come between all reads, nothing is kept.
    if (this.#isEmpty) return;
    this.#answers = new WeakMap();
    this.#isEmpty = true;
  }
}

function sizeOf(row: Readonly<Record<string, unknown>> = {}): number {
  let size = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") size += value.length;
    // Bytes could be changed, even those of a frozen row.
    else if (typeof value === "object" && value !== null) return Number.POSITIVE_INFINITY;
  }
  return size;
}
