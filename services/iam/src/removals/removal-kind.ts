import type { Transaction } from "svc-access/database";
import type { IamTables } from "../store/tables.ts";

/** A transaction over the tables of the service. */
export type RemovalTransaction = Transaction<IamTables>;

/** A kind of records that are deleted together with their relationships. */
export interface RemovalKind {
  /** Its name, which is stored: lower-case letters and `_`. */
  readonly name: string;
  /** The type of its objects in the authorization model. */
  readonly objectType: string;
  /**
   * Deletes the record, and what else the database has of it, in the transaction that ends the removal.
   * It may run again.
   */
  readonly deleteRecord: (transaction: RemovalTransaction, id: string) => Promise<void>;
}
