import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** All rows of all tables of a service's files, for comparison with an earlier state. */
export function storedIn(folder: string): Record<string, unknown[]> {
  return Object.fromEntries(
    ["hub.db", "git.db", "platform.relationships.db"].flatMap((file) =>
      read(join(folder, file), (database) => {
        const tables = database
          .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
          .all();
        return tables.map(({ name }) => {
          return [`${file} ${name}`, database.prepare(`SELECT * FROM "${name}"`).all()];
        });
      }),
    ),
  );
}

/** A stored event. */
export interface StoredEvent {
  readonly type: string;
  readonly rpc: string;
  readonly principal: string;
  readonly code: string;
}

/** The audit events of a service, in order. */
export function auditedIn(folder: string, file = "platform.db"): StoredEvent[] {
  return read(join(folder, file), (database) =>
    database
      .prepare(
        "SELECT type, rpc, principal_type || ':' || principal_id AS principal, code FROM audit_events ORDER BY time, id",
      )
      .all()
      .map((row) => ({ ...row }) as unknown as StoredEvent),
  );
}

function read<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
