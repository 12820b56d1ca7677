import { DatabaseSync } from "node:sqlite";
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { ServiceError } from "svc-access/runtime";

/** Which items of a collection. */
export interface ListRequest {
  /** Only items below this one. */
  readonly parent?: string;
  /** Only items behind this id. */
  readonly after?: string;
  readonly limit: number;
}

/** Messages of one type in the order of their ids, each below a parent. */
export interface Collection<Message> {
  get(id: string): Message | undefined;
  put(id: string, message: Message, parent?: string): void;
  delete(id: string): boolean;
  list(request: ListRequest): Message[];
  /** Deletes what is below a parent, and returns how many. */
  deleteBelow(parent: string): number;
}

/** What a service keeps: collections of messages in an SQLite file. */
export class Store {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS item (
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        parent TEXT NOT NULL,
        message BLOB NOT NULL,
        PRIMARY KEY (collection, id)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS item_parent ON item (collection, parent, id);
    `);
  }

  collection<Schema extends DescMessage>(
    name: string,
    schema: Schema,
  ): Collection<MessageShape<Schema>> {
    const database = this.#database;
    const get = database.prepare("SELECT message FROM item WHERE collection = ? AND id = ?");
    const put = database.prepare(
      "INSERT INTO item VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET message = excluded.message",
    );
    const remove = database.prepare("DELETE FROM item WHERE collection = ? AND id = ?");
    const below = database.prepare("DELETE FROM item WHERE collection = ? AND parent = ?");
    const all = database.prepare(
      "SELECT message FROM item WHERE collection = ? AND id > ? ORDER BY id LIMIT ?",
    );
    const children = database.prepare(
      "SELECT message FROM item WHERE collection = ? AND parent = ? AND id > ? ORDER BY id LIMIT ?",
    );
    const read = (row: unknown) => fromBinary(schema, (row as { message: Uint8Array }).message);
    return {
      get(id) {
        const row = get.get(name, id);
        return row === undefined ? undefined : read(row);
      },
      put(id, message, parent = "") {
        put.run(name, id, parent, toBinary(schema, message));
      },
      delete: (id) => Number(remove.run(name, id).changes) > 0,
      list({ parent, after = "", limit }) {
        const rows =
          parent === undefined
            ? all.all(name, after, limit)
            : children.all(name, parent, after, limit);
        return rows.map(read);
      },
      deleteBelow: (parent) => Number(below.run(name, parent).changes),
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** What was found, or the error that says what was not. */
export function found<Item>(item: Item | undefined, what: string): Item {
  if (item === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", `${what} does not exist`);
  return item;
}
