import { IS_SHARED, sql, type Transaction } from "svc-access/database";
import {
  consumeDocument,
  documentOf,
  endOwned,
  type NewProviderDocument,
  saveDocument,
  selectDocuments,
} from "./document-rows.ts";
import type { ProviderDatabase } from "./provider-database.ts";
import type { ProviderDocumentRow, ProviderTables } from "./provider-tables.ts";
import { isStorable } from "./storable-text.ts";

/** The columns by which documents are found, besides their ids. */
export type LookupColumn = "uid" | "user_code";

/** What became of the use of a document. */
export type Consumption =
  /** This use counts. */
  | "used"
  /** It had been used before: whoever uses it now may not be whom it was given to. */
  | "used_before"
  /** It, or its grant, is not there any more. */
  | "gone";

const GRANT = "Grant";

/** The stored documents of the embedded provider. */
export class ProviderDocuments {
  readonly #database: ProviderDatabase;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: ProviderDatabase, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** The document with an id. */
  async find(model: string, id: string): Promise<ProviderDocumentRow | undefined> {
    if (!isStorable(id)) return undefined;
    return documentOf(
      await this.#database.run((db) =>
        selectDocuments(db, model).where("id", "=", id).executeTakeFirst(),
      ),
    );
  }

  /** The document with a value in another column. */
  async findBy(
    model: string,
    column: LookupColumn,
    value: string,
  ): Promise<ProviderDocumentRow | undefined> {
    if (!isStorable(value)) return undefined;
    return documentOf(
      await this.#database.run((db) =>
        selectDocuments(db, model).where(column, "=", value).executeTakeFirst(),
      ),
    );
  }

  /** Stores a document, or a new version of it. */
  async save(document: NewProviderDocument): Promise<void> {
    await this.#database.run((db) => saveDocument(db, document));
  }

  /**
   * Stores a new version of a document if it may, in a transaction: of several at once, the next one sees the one before.
   *
   * @param mayStore gets the document as it is, which nobody changes meanwhile; undefined if there is none
   */
  async saveIf(
    tx: Transaction<ProviderTables>,
    document: NewProviderDocument,
    mayStore: (before: ProviderDocumentRow | undefined) => boolean,
  ): Promise<void> {
    const { model, id } = document;
    const before = await tx
      .updateTable("iam_provider_documents")
      // It locks the row, in both kinds of databases.
      .set((row) => ({ id: row.ref("id") }))
      .where("model", "=", model)
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    if (mayStore(documentOf(before))) await saveDocument(tx, document);
  }

  /** The same in a transaction of its own. */
  async saveAloneIf(
    document: NewProviderDocument,
    mayStore: (before: ProviderDocumentRow | undefined) => boolean,
  ): Promise<void> {
    await this.#database.transaction((tx) => this.saveIf(tx, document, mayStore));
  }

  /** Stores a document that must not be there yet. @returns false if it is */
  async add(document: NewProviderDocument): Promise<boolean> {
    const rows = await this.#database.run((db) =>
      db
        .insertInto("iam_provider_documents")
        .values({ ...document, consumed_time: null, ended_time: null })
        .onConflict((conflict) => conflict.columns(["model", "id"]).doNothing())
        .returning("id")
        .execute(),
    );
    return rows.length > 0;
  }

  /**
   * Stores the successor of a refresh token.
   *
   * @returns false if the grant or the token before it has ended in the meantime: a successor would
   * be one of the siblings that end with it
   */
  async addSuccessor(document: NewProviderDocument): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      if (!(await this.lockGrant(tx, document.grant_id))) return false;
      const parent = await selectDocuments(tx, document.model)
        .where("id", "=", document.parent_id ?? "")
        .executeTakeFirst();
      if (parent === undefined || parent.ended_time !== null) return false;
      await tx
        .insertInto("iam_provider_documents")
        .values({ ...document, consumed_time: null, ended_time: null })
        .execute();
      return true;
    });
  }

  /** Marks a document as used. A second use ends its grant, in the same transaction. */
  async consume(model: string, id: string): Promise<Consumption> {
    const known = await this.find(model, id);
    if (known === undefined) return "gone";
    return this.#database.transaction(async (tx) => {
      // All uses of a grant's documents, and its end, wait here for each other.
      const hasGrant = await this.lockGrant(tx, known.grant_id);
      const document = documentOf(
        await selectDocuments(tx, model).where("id", "=", id).executeTakeFirst(),
      );
      if (document === undefined) return "gone";
      if (known.grant_id !== null && !hasGrant) return "gone";
      const now = this.#now();
      if (await consumeDocument(tx, document, now)) return "used";
      if (document.grant_id !== null) await endOwned(tx, "grant_id", document.grant_id);
      return "used_before";
    });
  }

  /** Deletes a document. */
  async remove(model: string, id: string): Promise<void> {
    await this.#database.run((db) =>
      db
        .deleteFrom("iam_provider_documents")
        .where("model", "=", model)
        .where("id", "=", id)
        .execute(),
    );
  }

  /** Deletes a grant and all that was issued by it. */
  async removeGrant(grantId: string): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await this.lockGrant(tx, grantId);
      await endOwned(tx, "grant_id", grantId);
    });
  }

  /** Postpones the expiry of the session with a `uid`: it was used. */
  async touchSession(uid: string, expireTime: number): Promise<void> {
    await this.#database.run((db) =>
      db
        .updateTable("iam_provider_documents")
        .set({ expire_time: expireTime })
        .where("model", "=", "Session")
        .where("uid", "=", uid)
        .execute(),
    );
  }

  /**
   * Deletes a batch of expired documents.
   *
   * @param limit the most documents of the batch
   * @returns how many were deleted; fewer than the limit, and there are no more
   */
  async removeExpired(limit: number): Promise<number> {
    const { kind } = this.#database;
    // Replicas that clean up at once take different documents.
    const lock = IS_SHARED[kind] ? sql`for update skip locked` : sql``;
    const { rows } = await this.#database.run((db) =>
      sql`delete from ${sql.table("iam_provider_documents")}
        where (model, id) in (
          select model, id from ${sql.table("iam_provider_documents")}
          where expire_time < ${this.#now()} order by expire_time limit ${limit} ${lock})
        returning id`.execute(db),
    );
    return rows.length;
  }

  /** Whether there is a grant. Its end waits for the transaction. */
  async lockGrant(tx: Transaction<ProviderTables>, grantId: string | null): Promise<boolean> {
    if (grantId === null) return false;
    const query = tx
      .selectFrom("iam_provider_documents")
      .select("id")
      .where("model", "=", GRANT)
      .where("id", "=", grantId);
    // SQLite lets one transaction write at a time.
    const locking = IS_SHARED[this.#database.kind] ? query.forUpdate() : query;
    return (await locking.executeTakeFirst()) !== undefined;
  }
}
