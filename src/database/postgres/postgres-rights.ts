import { type Kysely, sql } from "kysely";
import { DatabaseError } from "../database-error.ts";

/** A privilege on a table. */
export type TableRight = "select" | "insert" | "update" | "delete";

/** The privileges that a program needs on each of its tables. */
export type TableRights = Readonly<Record<string, readonly TableRight[]>>;

interface Lack {
  readonly user: string;
  /** Null if the user may not use the schema itself. */
  readonly table: string | null;
  readonly missing: readonly string[];
}

/**
 * Checks that the user of a connection has all privileges that the program needs, so that a missing
 * one stops the start, and does not fail calls hours later. Tables that do not exist yet are skipped.
 * It queries the catalog, which every user may read.
 *
 * @param name - the name of the database, for messages
 * @throws DatabaseError FAILED_PRECONDITION with all missing privileges, and the statements that grant them
 */
export async function assertRights(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  kysely: Kysely<any>,
  { name, schema, rights }: { name: string; schema: string; rights: TableRights },
): Promise<void> {
  const wanted = Object.entries(rights).flatMap(([table, each]) =>
    each.map((right) => ({ table, right })),
  );
  const { rows } = await sql<Lack>`
    select current_user as "user", null as "table", array['usage'] as missing
    from pg_namespace
    where nspname = ${schema} and not has_schema_privilege(oid, 'usage')
    union all
    (select current_user, "table", array_agg("right" order by place)
    from unnest(
      ${wanted.map(({ table }) => table)}::text[],
      ${wanted.map(({ right }) => right)}::text[]
    ) with ordinality as wanted ("table", "right", place)
    join pg_namespace on nspname = ${schema}
    join pg_class on relnamespace = pg_namespace.oid and relname = "table"
    where not has_table_privilege(pg_class.oid, "right")
    group by "table"
    order by "table")`.execute(kysely);
  const [first] = rows;
  if (first === undefined) return;
  const grants = rows.map(({ table, missing }) => {
    const of = table === null ? `schema ${quote(schema)}` : `${quote(schema)}.${quote(table)}`;
    return `grant ${missing.join(", ")} on ${of} to ${quote(first.user)};`;
  });
  throw new MissingRightsError(
    `user ${first.user} lacks privileges on the tables of ${name}: let their owner run`,
    grants,
  );
}

/** Missing privileges, with the statements that grant them. */
export class MissingRightsError extends DatabaseError {
  readonly #intro: string;
  readonly #grants: readonly string[];

  constructor(intro: string, grants: readonly string[]) {
    super("FAILED_PRECONDITION", `${intro} ${grants.join(" ")}`);
    this.#intro = intro;
    this.#grants = grants;
  }

  /** Adds the missing privileges of another part on the same database. */
  and(other: MissingRightsError): MissingRightsError {
    return new MissingRightsError(this.#intro, [...new Set([...this.#grants, ...other.#grants])]);
  }
}

/** A name in SQL, with quotes only if necessary. */
export function quote(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
