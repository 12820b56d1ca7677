import { type CompiledQuery, type Kysely, type QueryCreator, sql } from "kysely";
import type { Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import {
  CHANGES,
  type FencedTables,
  fence,
  PARTS,
  type Parameter,
  type Part,
  parameter,
  type Rows,
} from "./statement-parts.ts";

/** A statement as `pg` runs it: parsed once under its name. It changes rows where the batch was written. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * The statement that writes a batch: a single one, so that it is one round trip and commits
 * atomically by itself. Its first part, the fence, gives a row only where this process holds the
 * store; the others do what they do for each row that the fence gives, so nothing where another
 * process has taken the store. Rows are arrays, so that its text depends only on which parts there
 * are; a single row is not an array, since a single write is the most frequent case.
 */
export class PostgresStatement {
  readonly #kysely: Kysely<Tables>;
  readonly #compiled = new Map<string, CompiledQuery>();

  constructor(kysely: Kysely<Tables>) {
    this.#kysely = kysely;
  }

  /** The statement of a batch. */
  of(batch: WriteBatch): NamedStatement {
    let name = "changes";
    for (const part of SHAPED) {
      const rows = rowsOf(batch, part);
      if (rows !== undefined) name += ` ${part}:${rows}`;
    }
    let query = this.#compiled.get(name);
    if (query === undefined) {
      query = compile(this.#kysely, batch);
      this.#compiled.set(name, query);
    }
    const values = (query.parameters as readonly Parameter[]).map(({ of }) => of(batch));
    return { name, text: query.sql, values };
  }
}

const NAMES = Object.keys(PARTS) as Part[];
const SHAPED = [...NAMES, "changes"] as const;

/** How many rows a part of a batch has; undefined for none. */
function rowsOf(batch: WriteBatch, part: Part | "changes"): Rows | undefined {
  const { length } = batch[part];
  return length === 0 ? undefined : length === 1 ? "one" : "many";
}

function compile(kysely: Kysely<Tables>, batch: WriteBatch): CompiledQuery {
  let query = kysely.with("fence", fence) as unknown as QueryCreator<FencedTables>;
  for (const part of NAMES) {
    const rows = rowsOf(batch, part);
    if (rows === undefined) continue;
    query = query.with(part, (kysely) => PARTS[part](kysely, rows)) as unknown as typeof query;
  }
  return query
    .insertInto("changes")
    .columns(["sequence", "updates", "time"])
    .expression((kysely) =>
      kysely
        .selectFrom(["fence", CHANGES[rowsOf(batch, "changes") ?? "many"]])
        .select([
          sql<number>`${parameter(({ before }) => before)}::bigint + number`.as("sequence"),
          "updates",
          sql<string>`${parameter(({ time }) => time)}::text`.as("time"),
        ]),
    )
    .compile();
}
