import { createHash } from "node:crypto";
import type { AuditRecord, AuditRecorder } from "svc-access/runtime";
import { type SecretBox, UnsealError } from "../../ground/secrets/secret-box.ts";
import { saveDocument, selectDocuments } from "../../ground/store/document-rows.ts";
import type { OpenedDatabase } from "../../ground/store/provider-database.ts";
import { sealedPlace } from "./adapter/sealed-documents.ts";
import type { ClientDeclaration } from "./client-declaration.ts";
import { type ClientDifference, differencesOf } from "./client-differences.ts";
import type { ProviderLog } from "./embedded-options.ts";

/** What the clients are kept in. */
export interface DeclaredClientsOptions {
  /** The client that the service is at the provider. */
  readonly own: ClientDeclaration;
  /** Those of the configuration, until `start`. */
  readonly clients: readonly ClientDeclaration[];
  readonly database: OpenedDatabase;
  readonly box: SecretBox;
  readonly recorder: Pick<AuditRecorder, "record">;
  readonly log: ProviderLog;
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
 * The clients of the provider, which all replicas share: those that the last start, or the last ApplyClients,
 * declared. Changes are audited: who can change a client can have people log in elsewhere.
 */
export class DeclaredClients {
  readonly #options: DeclaredClientsOptions;
  #clients: readonly ClientDeclaration[];
  #isStarted = false;

  constructor(options: DeclaredClientsOptions) {
    this.#options = options;
    this.#clients = options.clients;
  }

  /** The own client, and those that were declared. */
  get all(): readonly ClientDeclaration[] {
    return [this.#options.own, ...this.#clients];
  }

  /** Those that were declared. */
  get declared(): readonly ClientDeclaration[] {
    return this.#clients;
  }

  /** Applies the clients of the configuration, at a start. */
  async start(): Promise<void> {
    await this.apply(this.#options.clients);
    this.#isStarted = true;
  }

  /**
   * Reads the clients again, which another replica may have changed.
   *
   * @returns a text that is another one if they were changed
   */
  async refresh(): Promise<string> {
    if (this.#isStarted) {
      const stored = await this.#stored();
      const { id: ownId } = this.#options.own;
      const read = [...stored].filter(([id]) => id !== ownId);
      // Each apply stores the own client, too: without it the rows were removed, and nobody has applied none.
      if (!stored.has(ownId)) {
        this.#options.log.warn(
          {},
          "the declared clients are not in the database any more, those of before stay: restart the service, or run svc-iam client apply",
        );
      } else if (read.every(([, client]) => typeof client === "object")) {
        this.#clients = read.map(([, client]) => client as ClientDeclaration);
      } else {
        this.#options.log.warn(
          {},
          "the clients of another replica cannot be read: an encryption key is missing in iam.encryption_key_file",
        );
      }
    }
    const sorted = this.#clients.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    return createHash("sha256").update(JSON.stringify(sorted)).digest("base64url");
  }

  /** What applying these clients would change. */
  async plan(declared: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]> {
    return differencesOf(await this.#stored(), this.#withOwn(declared));
  }

  /**
   * Makes these the clients of the provider. An event is recorded before its change is stored, so that none is
   * lost if the process ends; then it comes twice.
   */
  async apply(declared: readonly ClientDeclaration[]): Promise<readonly ClientDifference[]> {
    const wanted = this.#withOwn(declared);
    const stored = await this.#stored();
    const differences = differencesOf(stored, wanted);
    for (const difference of differences) {
      await this.#options.recorder.record(eventOf(difference, wanted));
      const client = wanted.find(({ id }) => id === difference.id);
      await (client === undefined ? this.#remove(difference.id) : this.#save(client));
    }
    // Those of an earlier version are stored by their digests.
    for (const client of wanted) {
      if (typeof stored.get(client.id) === "string") await this.#save(client);
    }
    this.#clients = declared;
    return differences;
  }

  /** The secret of the own client is another one at each start. */
  #withOwn(declared: readonly ClientDeclaration[]): readonly ClientDeclaration[] {
    const { secret: _, ...own } = this.#options.own;
    return [own, ...declared];
  }

  /** What is stored by the ids of clients: a declaration, or a text if it is none that can be read. */
  async #stored(): Promise<ReadonlyMap<string, ClientDeclaration | string>> {
    const { database, box } = this.#options;
    const rows = await selectDocuments(database.kysely, MODEL).orderBy("id").execute();
    return new Map(rows.map(({ id, payload }) => [id, opened(box, id, payload)]));
  }

  async #save(client: ClientDeclaration): Promise<void> {
    const { database, box } = this.#options;
    const payload = box.seal(JSON.stringify(client), sealedPlace(MODEL, client.id));
    await saveDocument(database.kysely, { ...ROW, id: client.id, payload });
  }

  async #remove(id: string): Promise<void> {
    await this.#options.database.kysely
      .deleteFrom("iam_provider_documents")
      .where("model", "=", MODEL)
      .where("id", "=", id)
      .execute();
  }
}

function eventOf(
  { id, change }: ClientDifference,
  wanted: readonly ClientDeclaration[],
): AuditRecord {
  const event = { event: "client.applied", riskLevel: "HIGH" } as const;
  const client = wanted.find((one) => one.id === id);
  if (client === undefined) return { ...event, details: { client: id, change } };
  const { name, flows, redirectUris } = client;
  const counts = { redirect_uris: redirectUris.length };
  return { ...event, details: { client: id, change, name, flows: flows.join(" "), ...counts } };
}

function opened(box: SecretBox, id: string, payload: string): ClientDeclaration | string {
  try {
    const text = box.open(payload, sealedPlace(MODEL, id));
    return text.startsWith("{") ? JSON.parse(text) : text;
  } catch (error) {
    if (error instanceof UnsealError) return "";
    throw error;
  }
}
