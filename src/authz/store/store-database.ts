import type { Kysely } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";
import type { TableRights } from "../../database/postgres/postgres-rights.ts";
import type { AuthzError } from "../engine/authz-error.ts";
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

  /** Where it is, as the command line takes it: no secret. */
  readonly address: string;

  /** How often it is looked after whether the store is still this process's own, in milliseconds. */
  readonly lookEveryMs: number;

  /** How long memory may be relied on where that cannot be found out, in milliseconds. */
  readonly doubtLimitMs: number;

  /** The one connection that writes. */
  readonly writer: Kysely<Tables>;

  /** Reads what was committed, beside the writer. */
  readonly reader: Kysely<Tables>;

  /**
   * Connects, or connects again after an error, and holds the lock. Tells
   * whether the lock was `held` all the time or was `taken` just now.
   *
   * @throws AuthzError where that is not possible; a lock that was taken just now is free again
   */
  connect(): Promise<"held" | "taken">;

  /**
   * Sees that the user may do this with the tables; absent where a database knows no users.
   *
   * @throws MissingRightsError with the rights that are missing
   */
  assertRights?(rights: TableRights): Promise<void>;

  /** Why what is written will not last, or the lock keeps nobody out, though it can be written; absent where that cannot be. */
  problem?(): string | undefined;

  /** Names who is notified that the connection which has the lock broke. */
  onLost(listener: () => void): void;

  /**
   * Writes a batch in one transaction, and returns when it is durable. Where the
   * store is of another epoch, nothing is written and it gives false; where it is of another
   * head, it fails, for no two writes have one number.
   */
  write(batch: WriteBatch): Promise<boolean>;

  /** Opens a view of what is committed now. */
  snapshot(): Promise<Snapshot>;

  /** Says what an error of this database means to the user of the store. */
  explain(error: unknown): AuthzError;

  /** Closes all connections and gives the lock back. */
  close(): Promise<void>;
}
