import { type Kysely, sql } from "kysely";
import { AuthzError } from "../../authz-error.ts";

/** What a program does with a table. */
export type TableRight = "select" | "insert" | "update" | "delete";

/** What a program does with each of its tables. */
export type TableRights = Readonly<Record<string, readonly TableRight[]>>;

interface Lack {
  readonly user: string;
  readonly relation: string;
  readonly missing: readonly TableRight[];
}

/**
 * Sees that the user of a connection may do with its tables what the program does, so that
 * a right that is missing stops the start, and not the calls hours later.
 *
 * @param name of the database, for messages
 * @throws AuthzError FAILED_PRECONDITION with all rights that are missing, and the statements that grant them
 */
export async function assertRights(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  kysely: Kysely<any>,
  { name, schema, rights }: { name: string; schema: string; rights: TableRights },
): Promise<void> {
  const wanted = Object.entries(rights).flatMap(([table, each]) =>
    each.map((right) => ({ relation: `${quote(schema)}.${quote(table)}`, right })),
  );
  const { rows } = await sql<Lack>`
    select current_user as "user", relation, array_agg("right") as missing
    from unnest(
      ${wanted.map(({ relation }) => relation)}::text[],
      ${wanted.map(({ right }) => right)}::text[]
    ) as wanted (relation, "right")
    where not has_table_privilege(relation, "right")
    group by relation
    order by relation`.execute(kysely);
  const [first] = rows;
  if (first === undefined) return;
  const grants = rows.map(
    ({ relation, missing }) =>
      `grant ${missing.join(", ")} on ${relation} to ${quote(first.user)};`,
  );
  throw new AuthzError(
    "FAILED_PRECONDITION",
    `${name} does not let user ${first.user} use its tables: let their owner run ${grants.join(" ")}`,
  );
}

/** A name as SQL takes it, in quotes only where it needs them. */
function quote(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
