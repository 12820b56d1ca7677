import type { Kysely } from "kysely";
import type { DatabaseKind } from "../database.ts";
import type { TableRights } from "../postgres/postgres-rights.ts";
import { COLUMN_TYPES, type ColumnTypes } from "../tables.ts";
import type { MigrationSet } from "./migrate.ts";

/** What a migration knows of the database. */
export interface MigrationContext extends ColumnTypes {
  /** The kind of the database. */
  readonly kind: DatabaseKind;
}

/**
 * A step that creates or changes tables.
 *
 * @example
 * ```ts
 * const createTopics: ServiceMigration = {
 *   name: "create_topics",
 *   async up(database, { text, whole }) {
 *     await database.schema
 *       .createTable("topics")
 *       .addColumn("id", text, (column) => column.primaryKey())
 *       .addColumn("create_time", whole, (column) => column.notNull())
 *       .execute();
 *   },
 * };
 * ```
 */
export interface ServiceMigration {
  /** Its name among those of the component: lower-case letters, digits and `_`. It is stored. */
  readonly name: string;
  /**
   * Creates or changes tables, in the one transaction of all new migrations.
   *
   * @param database - the connection of the transaction; begin none of your own
   * @param context - the kind of the database and its column types
   */
  // biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
  readonly up: (database: Kysely<any>, context: MigrationContext) => Promise<void>;
}

/** The tables of a service. */
export interface ServiceTables {
  /** The name of the part of the service that they belong to, such as `notes`; it is stored. */
  readonly component: string;
  /**
   * The steps to the tables of this version, in order. A step that has run keeps its name, place
   * and meaning, and new ones are appended.
   */
  readonly migrations: readonly ServiceMigration[];
  /**
   * The rights that the service needs on its tables in PostgreSQL. If its role lacks one, the
   * database is not opened, and the error has the statements that grant it.
   */
  readonly rights?: TableRights;
  /**
   * The command that makes the tables as their owner, for the error of a role that may not:
   * `migrateServiceDatabase` if absent. `migrateDatabase` names it for the tables of the runtime too.
   */
  readonly migrateCommand?: string;
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const RESERVED: ReadonlySet<string> = new Set(["audit", "idempotency", "jobs", "removals"]);

/**
 * The steps of a service in the form of those of this package.
 *
 * @throws TypeError for what no program could mean: a mistake of the program
 */
export function migrationSetOf(tables: ServiceTables): MigrationSet {
  const { component, migrations, rights, migrateCommand = "migrateServiceDatabase" } = tables;
  if (typeof component !== "string" || !NAME.test(component)) {
    throw new TypeError(
      `the component ${JSON.stringify(component)} is not a name: use lower-case letters, digits and _, at most 63`,
    );
  }
  if (RESERVED.has(component)) {
    throw new TypeError(`the component ${component} is one of svc-access: choose another name`);
  }
  if (!Array.isArray(migrations)) {
    throw new TypeError(`the migrations of ${component} are not a list`);
  }
  const names = new Set<string>();
  for (const [index, { name, up }] of migrations.entries()) {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new TypeError(
        `the name ${JSON.stringify(name)} of migration ${index + 1} of ${component} is not a name: use lower-case letters, digits and _, at most 63`,
      );
    }
    if (names.has(name)) {
      throw new TypeError(`there are two migrations "${name}" of ${component}: rename the new one`);
    }
    if (typeof up !== "function") {
      throw new TypeError(`the migration "${name}" of ${component} has no function up`);
    }
    names.add(name);
  }
  return {
    component,
    names: [...names],
    steps: migrations.map(
      ({ up }: ServiceMigration): MigrationSet["steps"][number] =>
        (connection, kind) =>
          up(connection, { kind, ...COLUMN_TYPES[kind] }),
    ),
    program: migrateCommand,
    ...(rights === undefined ? {} : { rights }),
  };
}
