import type { Logger } from "../../common/logger.ts";
import type { Database, DatabaseSettings, PoolStats } from "../database.ts";

/** What a server needs of the database of a service; made by `openServiceDatabase`. */
export interface ServerDatabase {
  /** Its name in messages, without secrets. */
  readonly name: string;
  /** Whether it answers now: undefined if it does, otherwise the reason. */
  ready(): Promise<string | undefined>;
  /** The connections of its pool; SQLite has one. */
  poolStats(): PoolStats;
  /** Closes it, once. A server that was given it does so when all calls and jobs have ended. */
  close(): Promise<void>;
}

/** What is behind a `ServerDatabase`. */
export interface DatabaseParts {
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  readonly database: Database<any>;
  /** The configuration that it was opened with. */
  readonly settings: DatabaseSettings;
  /** Sets where slow statements are logged from now on, if its author named no logger. */
  readonly setLogger: (logger: Logger) => void;
}

/** In a file of its own: a server without such a database does not load what makes one. */
const PARTS = new WeakMap<ServerDatabase, DatabaseParts>();

/** Remembers what is behind a database. */
export function keepParts(database: ServerDatabase, parts: DatabaseParts): void {
  PARTS.set(database, parts);
}

/** What is behind a database; undefined if it is of another making. */
export function partsOf(database: ServerDatabase): DatabaseParts | undefined {
  return PARTS.get(database);
}
