import { createHash } from "node:crypto";
import { rowName } from "../../../ground/secrets/rewrap.ts";
import type { SealedPlace } from "../../../ground/secrets/secret-box.ts";

/** The models whose ids are credentials: of these the database has only hashes. */
export const SECRET_IDS: ReadonlySet<string> = new Set([
  "AuthorizationCode",
  "DeviceCode",
  "Interaction",
  "RefreshToken",
  "Session",
]);

const TABLE = "iam_provider_documents";
const COLUMN = "payload";

/** The sealed column of the documents. */
export const SEALED_DOCUMENTS = { table: TABLE, column: COLUMN, key: ["model", "id"] } as const;

/** Where a document is sealed. */
export function sealedPlace(model: string, id: string): SealedPlace {
  return { table: TABLE, column: COLUMN, row: rowName([model, id]) };
}

/** The form in which credentials are stored. */
export function hash(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}
