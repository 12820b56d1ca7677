import type { Transaction } from "kysely";

/**
 * A kind of records that are deleted together with their relationships.
 *
 * @typeParam Tables - the tables of the service, as types of Kysely
 *
 * @example
 * ```ts
 * const noteRemoval: RemovalKind<{ readonly notes: { readonly id: string } }> = {
 *   name: "note",
 *   objectType: "note",
 *   async deleteRecord(transaction, id) {
 *     await transaction.deleteFrom("notes").where("id", "=", id).execute();
 *   },
 * };
 * ```
 */
export interface RemovalKind<Tables> {
  /** Its name, which is stored, and the value of `kind` in metrics: lower-case letters, digits and `_`. */
  readonly name: string;
  /** The type of its objects in the authorization model. */
  readonly objectType: string;
  /**
   * The types of objects whose relationships may name one of these as their subject; absent, all types. With the
   * engine `iam`, list those that the service reads and writes: it is refused all others.
   */
  readonly namedBy?: readonly string[];
  /**
   * Deletes the record, and what else the database has of it, when no relationship names the object any more.
   *
   * @param transaction - the one that ends the removal: it is short, and may run again
   * @param id - of the object, as it was added; its record may be gone already
   */
  readonly deleteRecord: (transaction: Transaction<Tables>, id: string) => Promise<void>;
}
