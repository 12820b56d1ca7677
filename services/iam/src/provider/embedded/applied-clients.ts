import { createHash } from "node:crypto";
import type { AuditRecord, AuditRecorder } from "svc-access/runtime";
import { type SecretBox, UnsealError } from "../../secrets/secret-box.ts";
import { saveDocument, selectDocuments } from "../../store/document-rows.ts";
import type { OpenedDatabase } from "../../store/provider-database.ts";
import { sealedPlace } from "./adapter/sealed-documents.ts";
import type { ClientDeclaration } from "./client-declaration.ts";

/** What the comparison with the last start needs. */
export interface AppliedClientsOptions {
  readonly database: OpenedDatabase;
  readonly box: SecretBox;
  readonly recorder: Pick<AuditRecorder, "record">;
}

const MODEL = "AppliedClient";
/** They belong to nobody's login, and do not expire. */
const ROW = {
  model: MODEL,
  expire_time: Number.MAX_SAFE_INTEGER,
  grant_id: null,
  uid: null,
  user_code: null,
  session_uid: null,
  account_id: null,
  parent_id: null,
} as const;

/**
 * Audits the clients of the configuration that are other ones than at the last start, of any replica:
 * who can change them can have people log in elsewhere. An event is recorded before the change is
 * stored, so that none is lost if the process ends; then it comes twice.
 */
export async function auditClients(
  declared: readonly ClientDeclaration[],
  { database, box, recorder }: AppliedClientsOptions,
): Promise<void> {
  const known = await knownClients(database, box);
  for (const client of declared) {
    const { id } = client;
    const digest = digestOf(client);
    const before = known.get(id);
    known.delete(id);
    if (before === digest) continue;
    await recorder.record(eventOf(client, before === undefined ? "added" : "changed"));
    const payload = box.seal(digest, sealedPlace(MODEL, id));
    await saveDocument(database.kysely, { ...ROW, id, payload });
  }
  for (const id of known.keys()) {
    await recorder.record({ ...EVENT, details: { client: id, change: "removed" } });
    await database.kysely
      .deleteFrom("iam_provider_documents")
      .where("model", "=", MODEL)
      .where("id", "=", id)
      .execute();
  }
}

const EVENT = { event: "client.applied", riskLevel: "HIGH" } as const;

function eventOf(client: ClientDeclaration, change: "added" | "changed"): AuditRecord {
  const { id, name, flows, redirectUris } = client;
  const counts = { redirect_uris: redirectUris.length };
  return { ...EVENT, details: { client: id, change, name, flows: flows.join(" "), ...counts } };
}

/** The digests of the last start by client; one that cannot be opened is empty. */
async function knownClients(
  { kysely }: OpenedDatabase,
  box: SecretBox,
): Promise<Map<string, string>> {
  const rows = await selectDocuments(kysely, MODEL).execute();
  return new Map(rows.map(({ id, payload }) => [id, opened(box, id, payload)]));
}

function opened(box: SecretBox, id: string, payload: string): string {
  try {
    return box.open(payload, sealedPlace(MODEL, id));
  } catch (error) {
    if (error instanceof UnsealError) return "";
    throw error;
  }
}

/** The secret is a part of it, so it is stored sealed. */
function digestOf(client: ClientDeclaration): string {
  return createHash("sha256").update(JSON.stringify(client)).digest("base64url");
}
