import type { Transaction } from "svc-access/database";
import type { ProviderDatabase } from "../store/provider-database.ts";
import type { ProviderTables } from "../store/provider-tables.ts";
import type { RevocationRow } from "../store/session-tables.ts";
import type { Revocation, StoredRevocation, TokenIdentity } from "./revocation.ts";

/** How far the clocks of replicas may be apart, in milliseconds. */
const CLOCKS_APART_MS = 60_000;
/** The life of an access token, the skew that verifiers allow, and the skew of replicas. */
const KEEP_MS = 300_000 + 60_000 + CLOCKS_APART_MS;

/** A part of the revocations. */
export interface RevocationBatch {
  readonly revocations: readonly StoredRevocation[];
  /** The position of the last one. */
  readonly position: number;
}

/** The revocations, in the database: one that is stored counts at all replicas. */
export class Revocations {
  readonly #database: ProviderDatabase;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();

  /** @param now milliseconds since the epoch */
  constructor(database: ProviderDatabase, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Ends tokens. */
  async revoke(...revocations: readonly Revocation[]): Promise<void> {
    await this.#database.transaction((tx) => this.add(tx, revocations));
    this.announce();
  }

  /** Ends tokens in a transaction, as its last statements; call `announce` once it is committed. */
  async add(tx: Transaction<ProviderTables>, revocations: readonly Revocation[]): Promise<void> {
    for (const revocation of revocations) {
      // Its lock is held until the commit, so that positions are committed in their order.
      const { position } = await tx
        .updateTable("iam_revocation_head")
        .set((row) => ({ position: row("position", "+", 1) }))
        .returning("position")
        .executeTakeFirstOrThrow();
      await tx.insertInto("iam_revocations").values(this.#row(revocation, position)).execute();
    }
  }

  /** Tells the streams of this process that there are new ones. */
  announce(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls a function when there are new ones. @returns ends that */
  onNew(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether a token was ended. */
  async isRevoked({ jti, sid, sub, subjectType, iat }: TokenIdentity): Promise<boolean> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_revocations")
        .select("position")
        .where("keep_until", ">", this.#now())
        .where((is) =>
          is.or([
            is.and([is("kind", "=", "sid"), is("value", "=", sid)]),
            is.and([is("kind", "=", "jti"), is("value", "=", jti)]),
            is.and([
              is("kind", "=", "subject"),
              is("value", "=", sub),
              is("subject_type", "=", subjectType),
              is("issued_until", ">=", iat * 1000),
            ]),
          ]),
        )
        .limit(1)
        .execute(),
    );
    return rows.length > 0;
  }

  /** The last position. */
  async head(): Promise<number> {
    const row = await this.#database.run((db) =>
      db.selectFrom("iam_revocation_head").select("position").executeTakeFirstOrThrow(),
    );
    return Number(row.position);
  }

  /** The revocations that count and come after a position, in their order. */
  async after(position: number, limit: number): Promise<RevocationBatch> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_revocations")
        .selectAll()
        .where("position", ">", position)
        .orderBy("position")
        .limit(limit)
        .execute(),
    );
    const now = this.#now();
    return {
      revocations: rows.map(stored).filter(({ keepUntil }) => keepUntil > now),
      position: Number(rows.at(-1)?.position ?? position),
    };
  }

  /** Deletes those whose tokens have expired. */
  async removeExpired(): Promise<void> {
    // Another replica's clock may be behind.
    const before = this.#now() - CLOCKS_APART_MS;
    await this.#database.run((db) =>
      db.deleteFrom("iam_revocations").where("keep_until", "<", before).execute(),
    );
  }

  #row(revocation: Revocation, position: number): RevocationRow {
    const now = this.#now();
    const isSubject = revocation.kind === "subject";
    const known = revocation.kind === "jti" ? revocation.keepUntil : undefined;
    return {
      position: Number(position),
      kind: revocation.kind,
      value: revocation.value,
      subject_type: isSubject ? revocation.subjectType : null,
      issued_until: isSubject ? now + CLOCKS_APART_MS : null,
      keep_until: Math.max(known ?? 0, now + KEEP_MS + (isSubject ? CLOCKS_APART_MS : 0)),
    };
  }
}

function stored(row: RevocationRow): StoredRevocation {
  return {
    kind: row.kind,
    value: row.value,
    subjectType: row.subject_type ?? undefined,
    issuedUntil: row.issued_until === null ? undefined : Number(row.issued_until),
    // PostgreSQL sends whole numbers of 64 bits as text.
    keepUntil: Number(row.keep_until),
  };
}
