import { type Kysely, sql } from "kysely";
import { DatabaseError } from "../database-error.ts";

/** What a program does with a table. */
export type TableRight = "select" | "insert" | "update" | "delete";

/** What a program does with each of its tables. */
export type TableRights = Readonly<Record<string, readonly TableRight[]>>;

interface Lack {
  readonly user: string;
  /** Undefined if the schema itself may not be used. */
  readonly table: string | null;
  readonly missing: readonly string[];
}

/**
 * Sees that the user of a connection may do with its tables what the program does, so that
 * a right that is missing stops the start, and not the calls hours later. Tables that are not
 * there yet are passed over. The catalog is asked, which everybody may read.
 *
 * @param name of the database, for messages
 * @throws DatabaseError FAILED_PRECONDITION with all rights that are missing, and the statements that grant them
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
    `${name} does not let user ${first.user} use its tables: let their owner run`,
    grants,
  );
}

/** Rights that are missing, with the statements that grant them. */
export class MissingRightsError extends DatabaseError {
  readonly #intro: string;
  readonly #grants: readonly string[];

  constructor(intro: string, grants: readonly string[]) {
    super("FAILED_PRECONDITION", `${intro} ${grants.join(" ")}`);
    this.#intro = intro;
    this.#grants = grants;
  }

  /** The same with the rights that another part lacks on the same database. */
  and(other: MissingRightsError): MissingRightsError {
    return new MissingRightsError(this.#intro, [...new Set([...this.#grants, ...other.#grants])]);
  }
}

/** A name as SQL takes it, in quotes only where it needs them. */
export function quote(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
