/** A service whose records are deleted and created with relationships. */
import { join } from "node:path";
import {
  createEmbeddedEngine,
  openSqliteStore,
  parseModel,
  type Relationship,
  type RelationshipStore,
} from "../../../src/authz/index.ts";
import {
  openServiceDatabase,
  type ServiceDatabase,
  type ServiceTables,
} from "../../../src/database/service/index.ts";
import type { DatabaseConfig } from "../../../src/database/service/open-service-database.ts";
import { openRemovals } from "../../../src/runtime/removals/open-removals.ts";
import type { RemovalKind } from "../../../src/runtime/removals/removal-kind.ts";
import { settingsOf } from "../../database/settings.ts";

/** The authorization model of the service. */
export const NOTE_MODEL = `definition user {}
definition note {
  relation parent: note
  relation viewer: user | note#viewer
}
`;

/** The table of the notes. */
export interface NoteTables {
  readonly notes: {
    readonly id: string;
    /** Nobody sees a note in another state than `ready`. */
    readonly state: "creating" | "ready" | "deleted";
  };
}

const TABLES: ServiceTables = {
  component: "notes",
  migrations: [
    {
      name: "create_notes",
      async up(database, { text }) {
        await database.schema
          .createTable("notes")
          .addColumn("id", text, (column) => column.primaryKey())
          .addColumn("state", text, (column) => column.notNull())
          .execute();
      },
    },
  ],
};

export function openNotes(config: DatabaseConfig): Promise<ServiceDatabase<NoteTables>> {
  return openServiceDatabase<NoteTables>(config, TABLES);
}

export async function noteEngine(store: RelationshipStore) {
  const { model } = parseModel(NOTE_MODEL, "notes.zed");
  return createEmbeddedEngine({ model, store });
}

/** How notes are deleted. */
export const noteRemoval: RemovalKind<NoteTables> = {
  name: "note",
  objectType: "note",
  async deleteRecord(transaction, id) {
    await transaction.deleteFrom("notes").where("id", "=", id).execute();
  },
};

/** What a process of the service may do differently. */
export interface ProcessOptions {
  /** The time by which removals are due. */
  readonly clock: { readonly now: number };
  /** Called before and after each write of the removals. */
  readonly step?: () => void;
}

/** The service in one process, on the files of a folder. */
export async function openFolder(folder: string, { clock, step = () => {} }: ProcessOptions) {
  const database = await openNotes({
    database: settingsOf({ file: join(folder, "notes.db") }),
  });
  const store = await openSqliteStore({ file: join(folder, "relationships.db") });
  const engine = await noteEngine(store);
  const removals = await openRemovals({
    database,
    engine: {
      readRelationships: (...request) => engine.readRelationships(...request),
      async writeRelationships(...request) {
        step();
        const result = await engine.writeRelationships(...request);
        step();
        return result;
      },
    },
    now: () => clock.now,
  });
  removals.register({
    ...noteRemoval,
    async deleteRecord(transaction, id) {
      step();
      await noteRemoval.deleteRecord(transaction, id);
      step();
    },
  });
  return { database, engine, removals };
}

/** A relationship that names a note as its subject. */
export const childOf = (note: string, child: string): Relationship => ({
  resource: { type: "note", id: child },
  relation: "parent",
  subject: { type: "note", id: note },
});

/** Relationships that name a note as resource, as subject, and as a set of subjects. */
export const relationshipsOf = (note: string): readonly Relationship[] => [
  {
    resource: { type: "note", id: note },
    relation: "viewer",
    subject: { type: "user", id: "alice" },
  },
  childOf(note, `${note}-child`),
  {
    resource: { type: "note", id: `${note}-copy` },
    relation: "viewer",
    subject: { type: "note", id: note, relation: "viewer" },
  },
];

/** Writes that add relationships. */
export const touching = (relationships: readonly Relationship[]) => ({
  updates: relationships.map((relationship) => ({ operation: "TOUCH", relationship }) as const),
});
