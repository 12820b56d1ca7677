import type { Kysely, Transaction } from "svc-access/database";
import type { DocumentModel } from "./document-models.ts";
import type { ProviderDocumentRow, ProviderTables } from "./provider-tables.ts";
import { consumeRefreshToken } from "./refresh-rotation.ts";

/** A document to store. */
export type NewProviderDocument = Omit<
  ProviderDocumentRow,
  "model" | "consumed_time" | "ended_time"
> & { readonly model: DocumentModel };

/** The columns whose documents end together. */
export type OwnerColumn = "grant_id" | "session_uid" | "account_id";

const REFRESH_TOKEN = "RefreshToken";

/** Stores a document, or a new version of it. */
export async function saveDocument(
  db: Kysely<ProviderTables>,
  document: NewProviderDocument,
): Promise<void> {
  const { model: _model, id: _id, parent_id: _parent, ...changes } = document;
  await db
    .insertInto("iam_provider_documents")
    .values({ ...document, consumed_time: null, ended_time: null })
    .onConflict((conflict) => conflict.columns(["model", "id"]).doUpdateSet(changes))
    .execute();
}

/** The documents of a model. */
export function selectDocuments(db: Kysely<ProviderTables>, model: string) {
  return db.selectFrom("iam_provider_documents").selectAll().where("model", "=", model);
}

/** PostgreSQL sends whole numbers of 64 bits as text. */
export function documentOf(row: ProviderDocumentRow | undefined): ProviderDocumentRow | undefined {
  if (row === undefined) return undefined;
  return {
    ...row,
    expire_time: Number(row.expire_time),
    consumed_time: timeOf(row.consumed_time),
    ended_time: timeOf(row.ended_time),
  };
}

function timeOf(value: number | null): number | null {
  return value === null ? null : Number(value);
}

/** Marks a document as used, in a transaction. @returns false if it is not good */
export async function consumeDocument(
  tx: Transaction<ProviderTables>,
  document: ProviderDocumentRow,
  now: number,
): Promise<boolean> {
  if (document.model === REFRESH_TOKEN) return consumeRefreshToken(tx, document, now);
  const rows = await tx
    .updateTable("iam_provider_documents")
    .set({ consumed_time: now })
    .where("model", "=", document.model)
    .where("id", "=", document.id)
    .where("consumed_time", "is", null)
    .returning("id")
    .execute();
  return rows.length > 0;
}

/** Deletes the documents that end together. */
export async function endOwned(
  tx: Transaction<ProviderTables>,
  column: OwnerColumn,
  value: string,
): Promise<void> {
  await tx.deleteFrom("iam_provider_documents").where(column, "=", value).execute();
}
