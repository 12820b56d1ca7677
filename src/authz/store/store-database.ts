import type { Kysely } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";
import type { DatabaseError } from "../../database/database-error.ts";
import type { TableRights } from "../../database/postgres/postgres-rights.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type { StoreConnections } from "../engine/engine.ts";
import type { Tables } from "./tables.ts";
import type { WriteBatch } from "./write-batch.ts";

/** A view of a database at one moment. */
export interface Snapshot {
  readonly connection: Kysely<Tables>;
  close(): Promise<void>;
}

/**
 * What SQLite and PostgreSQL do differently for a store: connections, the lock
 * that keeps other processes out, and what their errors mean.
 */
export interface StoreDatabase {
  readonly kind: DatabaseKind;

  /** What the store is called in messages: no secret. */
  readonly name: string;

  /** Its location, in the syntax of the command line, without secrets. */
  readonly address: string;

  /** How often to check whether this process still owns the store, in milliseconds. */
  readonly lookEveryMs: number;

  /** How long memory may be trusted if that check fails, in milliseconds. */
  readonly doubtLimitMs: number;

  /** The one connection that writes. */
  readonly writer: Kysely<Tables>;

  /** Reads what was committed, beside the writer. */
  readonly reader: Kysely<Tables>;

  /**
   * Connects, or reconnects after an error, and holds the lock. Returns whether the lock was `held`
   * all the time or was `taken` just now.
   *
   * @throws AuthzError if that is not possible; a lock that was taken just now is released
   */
  connect(): Promise<"held" | "taken">;

  /**
   * Checks that the user has these rights on the tables; absent if the database has no users.
   *
   * @throws MissingRightsError with the rights that are missing
   */
  assertRights?(rights: TableRights): Promise<void>;

  /**
   * Why written data will not last, or the lock excludes nobody, although writes succeed; absent if
   * that cannot happen.
   */
  problem?(): string | undefined;

  /** Its connections at this moment; absent if it has none to a server. */
  connections?(): StoreConnections;

  /** Registers a callback that is called when the connection with the lock breaks. */
  onLost(listener: () => void): void;

  /**
   * Writes a batch in one transaction, and returns when it is durable. If the store has another
   * epoch, nothing is written and the result is false; if it has another head, it fails, since no
   * two writes have the same number.
   */
  write(batch: WriteBatch): Promise<boolean>;

  /** Opens a snapshot of the committed data. */
  snapshot(): Promise<Snapshot>;

  /** Says what an error of this database means to the user of the store. */
  explain(error: unknown): AuthzError;

  /** Closes all connections and releases the lock. */
  close(): Promise<void>;
}

/** Converts an error of the database to an `AuthzError`, the only error class of an engine. */
export function storeError(error: DatabaseError): AuthzError {
  const { code, message, cause = error } = error;
  return new AuthzError(code, message, { cause });
}
