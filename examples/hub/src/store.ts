import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { ServiceError, StartUpError } from "svc-access/runtime";

/** Which items of a collection. */
export interface ListRequest {
  /** Only items below this one. */
  readonly parent?: string;
  /** Only items after this id. */
  readonly after?: string;
  readonly limit: number;
}

/** Messages of one type in the order of their ids, each below a parent. */
export interface Collection<Message> {
  get(id: string): Message | undefined;
  put(id: string, message: Message, parent?: string): void;
  delete(id: string): boolean;
  list(request: ListRequest): [id: string, message: Message][];
  /** All items, or those below a parent; they are read as they are asked for. */
  all(parent?: string): Iterable<[id: string, message: Message]>;
  /** Deletes the objects below a parent. */
  deleteBelow(parent: string): void;
}

const BATCH = 1000;

const TABLES = `
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
  CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
`;

/**
 * What a service keeps: collections of messages in an SQLite file. Nothing in it waits, so
 * what a handler does without `await` in between happens as one.
 */
export class Store {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      // Nobody else on this machine reads it, nor what SQLite writes beside it.
      closeSync(openSync(file, "a", 0o600));
      this.#database = new DatabaseSync(file);
      this.#database.exec(TABLES);
    } catch (error) {
      const { message } = error as Error;
      throw new StartUpError(
        [`${file} cannot be opened (${message}): let DATA name a folder that this user may write`],
        { cause: error },
      );
    }
  }

  /** Changes all or nothing, even if the process is killed in the meantime. */
  transaction<Result>(change: () => Result): Result {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = change();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      // A full disk has ended it already.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** A number that was never used before, not even for a deleted object. */
  nextNumber(name: string): bigint {
    const next = this.#database.prepare(
      "INSERT INTO counter VALUES (?, 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value",
    );
    next.setReadBigInts(true);
    return next.get(name)?.["value"] as bigint;
  }

  collection<Schema extends DescMessage>(
    name: string,
    schema: Schema,
  ): Collection<MessageShape<Schema>> {
    const prepare = (sql: string) => this.#database.prepare(sql);
    const get = prepare("SELECT message FROM item WHERE collection = ? AND id = ?");
    const put = prepare(
      "INSERT INTO item VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET message = excluded.message",
    );
    const remove = prepare("DELETE FROM item WHERE collection = ? AND id = ?");
    const below = prepare("DELETE FROM item WHERE collection = ? AND parent = ?");
    const everything = prepare(
      "SELECT id, message FROM item WHERE collection = ? AND id > ? ORDER BY id LIMIT ?",
    );
    const children = prepare(
      "SELECT id, message FROM item WHERE collection = ? AND parent = ? AND id > ? ORDER BY id LIMIT ?",
    );
    const read = (message: unknown) => fromBinary(schema, message as Uint8Array);
    const list = ({ parent, after = "", limit }: ListRequest) => {
      const rows =
        parent === undefined
          ? everything.all(name, after, limit)
          : children.all(name, parent, after, limit);
      return rows.map(({ id, message }): [string, MessageShape<Schema>] => {
        return [id as string, read(message)];
      });
    };
    return {
      get(id) {
        const row = get.get(name, id);
        return row === undefined ? undefined : read(row["message"]);
      },
      put(id, message, parent = "") {
        put.run(name, id, parent, toBinary(schema, message));
      },
      delete: (id) => Number(remove.run(name, id).changes) > 0,
      list,
      *all(parent) {
        let batch: [string, MessageShape<Schema>][] = [];
        do {
          const after = batch.at(-1)?.[0] ?? "";
          batch = list({ ...(parent === undefined ? {} : { parent }), after, limit: BATCH });
          yield* batch;
        } while (batch.length === BATCH);
      },
      deleteBelow: (parent) => void below.run(name, parent),
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** The object, or an error that names the missing one. */
export function found<Item>(item: Item | undefined, what: string): Item {
  if (item === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", `${what} does not exist`);
  return item;
}
