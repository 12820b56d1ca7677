import { type Kysely, sql } from "svc-access/database";
import { type SecretBox, UnsealError } from "./secret-box.ts";

/** A column that holds sealed values. */
export interface SealedColumn {
  /** The table. */
  readonly table: string;
  /** The column. */
  readonly column: string;
  /** The columns of the primary key, in the order in which `rowName` joins them. */
  readonly key: readonly string[];
}

/** What a run over the sealed values has done. */
export interface RewrapResult {
  /** How many values are now encrypted with the first key. */
  readonly rewrapped: number;
  /** How many could not be opened; they are as they were. */
  readonly unopened: number;
  /** Why, of the first one. */
  readonly reason: string | undefined;
}

const BATCH = 200;

/** The name of a row in `SealedPlace`, from the values of its primary key. */
export function rowName(values: readonly string[]): string {
  const [only = "", ...more] = values;
  return more.length === 0 ? only : JSON.stringify(values);
}

/**
 * Encrypts all sealed values with the first key of the key file, while the service runs. After it,
 * once all processes read a file with that key first, the other keys may be removed from the file.
 *
 * @param database the database of the service
 */
export async function rewrap(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: { readonly kysely: Kysely<any> },
  box: SecretBox,
  columns: readonly SealedColumn[],
): Promise<RewrapResult> {
  const counts = { rewrapped: 0, unopened: 0, reason: undefined as string | undefined };
  for (const column of columns) await rewrapColumn(database.kysely, box, column, counts);
  return counts;
}

async function rewrapColumn(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  db: Kysely<any>,
  box: SecretBox,
  { table, column, key }: SealedColumn,
  counts: { rewrapped: number; unopened: number; reason: string | undefined },
): Promise<void> {
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  let after: readonly string[] | undefined;
  for (;;) {
    const start =
      after === undefined ? sql`` : sql`and (${keyColumns}) > (${sql.join([...after])})`;
    // Row by row in the order of the key, so that a value that cannot be opened is met once.
    const { rows } = await sql<Record<string, string>>`
      select ${keyColumns}, ${sql.ref(column)} from ${sql.table(table)}
      where substr(${sql.ref(column)}, 1, ${sql.lit(box.currentPrefix.length)}) <> ${box.currentPrefix} ${start}
      order by ${keyColumns} limit ${sql.lit(BATCH)}`.execute(db);
    for (const row of rows) {
      const values = key.map((name) => row[name] as string);
      const sealed = row[column] as string;
      after = values;
      const place = { table, column, row: rowName(values) };
      let text: string;
      try {
        text = box.open(sealed, place);
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        counts.unopened++;
        counts.reason ??= error.message;
        continue;
      }
      const same = key.map((name, index) => sql`${sql.ref(name)} = ${values[index]}`);
      // A value that the service has changed in the meantime is left to it.
      const { numAffectedRows = 0n } = await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${box.seal(text, place)}
        where ${sql.join(same, sql` and `)} and ${sql.ref(column)} = ${sealed}`.execute(db);
      counts.rewrapped += Number(numAffectedRows);
    }
    if (rows.length < BATCH) return;
  }
}
