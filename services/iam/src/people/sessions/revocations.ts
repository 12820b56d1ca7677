import {
  databaseTime,
  IS_SHARED,
  type RawBuilder,
  sql,
  type Transaction,
} from "svc-access/database";
import type { ProviderDatabase } from "../../ground/store/provider-database.ts";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { RevocationRow } from "../../ground/store/session-tables.ts";
import { CLOCKS_APART_MS } from "./database-clock.ts";
import type { Revocation, StoredRevocation, TokenIdentity } from "./revocation.ts";

/** A clock that jumped must not remove what counts by the right one. */
const CLOCK_JUMP_MS = 7_200_000;
/** The life of an access token, the skew that verifiers allow, and the skew of replicas. */
const KEEP_MS = 300_000 + 60_000 + CLOCKS_APART_MS;

/** A feed takes no later time. */
const LATEST_MS = Date.UTC(9999, 11, 31);

/** A part of the revocations. */
export interface RevocationBatch {
  readonly revocations: readonly StoredRevocation[];
  /** The position of the last one. */
  readonly position: number;
}

/** The last position, and when that was. */
export interface RevocationHead {
  readonly position: number;
  /** By the clock of the database, in milliseconds since the epoch; undefined where it has none of its own. */
  readonly databaseTime: number | undefined;
}

/**
 * The revocations, in the database: one that is stored counts at all replicas. Their times are those of
 * PostgreSQL's clock, which replicas share. SQLite has that of this process, which nothing confirms: it may
 * have jumped when a revocation was stored, or now. So there each one counts that is stored.
 */
export class Revocations {
  readonly #database: ProviderDatabase;
  readonly #now: () => number;
  /** Instead of the clock of the database. */
  readonly #fixed: (() => number) | undefined;
  /** How far the clock may be ahead, or may have been behind. */
  readonly #jumpMs: number;
  readonly #listeners = new Set<() => Promise<void>>();

  /** @param now milliseconds since the epoch, instead of the clock of the database; for tests */
  constructor(database: ProviderDatabase, now?: () => number) {
    this.#database = database;
    this.#now = now ?? Date.now;
    this.#fixed = now;
    this.#jumpMs = now === undefined && !IS_SHARED[database.kind] ? CLOCK_JUMP_MS : 0;
  }

  /** Ends tokens. */
  async revoke(...revocations: readonly Revocation[]): Promise<void> {
    await this.#database.transaction((tx) => this.add(tx, revocations));
    await this.announce();
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
      const row = this.#row(revocation, position);
      if (revocation.kind === "subject") {
        // It covers those before it: many of the same subject take one place.
        await tx
          .deleteFrom("iam_revocations")
          .where("kind", "=", "subject")
          .where("value", "=", row.value)
          .where("subject_type", "=", row.subject_type)
          .where("issued_until", "<=", row.issued_until)
          .where("keep_until", "<=", row.keep_until)
          .execute();
      }
      await tx.insertInto("iam_revocations").values(row).execute();
    }
  }

  /** Has new ones published in this process, so that they count here when the call returns that has stored them. */
  async announce(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener()));
  }

  /** Calls a function, which never fails, when there are new ones. @returns ends that */
  onNew(listener: () => Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether a token was ended. */
  async isRevoked({ jti, sid, sub, subjectType, iat }: TokenIdentity): Promise<boolean> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_revocations")
        .select("position")
        .where("keep_until", ">", sql<number>`${this.#time()} - ${sql.lit(this.#jumpMs)}`)
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
  async head(): Promise<RevocationHead> {
    const row = await this.#database.run((db) =>
      db
        .selectFrom("iam_revocation_head")
        .select(["position", this.#time().as("time")])
        .executeTakeFirstOrThrow(),
    );
    const isShared = IS_SHARED[this.#database.kind] && this.#fixed === undefined;
    return {
      position: Number(row.position),
      databaseTime: isShared ? Number(row.time) : undefined,
    };
  }

  /** The revocations that count and come after a position, in their order. */
  async after(position: number, limit: number): Promise<RevocationBatch> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_revocations")
        .selectAll()
        .select(this.#time().as("time"))
        .where("position", ">", position)
        .orderBy("position")
        .limit(limit)
        .execute(),
    );
    const now = this.#now();
    return {
      revocations: rows
        .map((row) => stored(row, now - Number(row.time)))
        .filter(({ keepUntil }) => keepUntil > now - this.#jumpMs)
        .map((one) => (this.#jumpMs === 0 ? one : keptFrom(one, now))),
      position: Number(rows.at(-1)?.position ?? position),
    };
  }

  /** Deletes those whose tokens have expired. */
  async removeExpired(): Promise<void> {
    const before = sql<number>`${this.#time()} - ${sql.lit(CLOCK_JUMP_MS)}`;
    await this.#database.run((db) =>
      db.deleteFrom("iam_revocations").where("keep_until", "<", before).execute(),
    );
  }

  /** The time now, in milliseconds since the epoch, of the one clock that counts. */
  #time(): RawBuilder<number> {
    return databaseTime(this.#database.kind, this.#fixed);
  }

  #row(revocation: Revocation, position: number) {
    const after = (milliseconds: number) => sql<number>`${this.#time()} + ${sql.lit(milliseconds)}`;
    const isSubject = revocation.kind === "subject";
    const known = (revocation.kind === "sid" ? undefined : revocation.keepUntil) ?? 0;
    const least = after(KEEP_MS + (isSubject ? CLOCKS_APART_MS : 0));
    return {
      position: Number(position),
      kind: revocation.kind,
      value: revocation.value,
      subject_type: isSubject ? revocation.subjectType : null,
      issued_until: isSubject ? after(CLOCKS_APART_MS) : null,
      keep_until: sql<number>`case when ${sql.lit(Math.ceil(known))} > ${least}
        then ${sql.lit(Math.ceil(known))} else ${least} end`,
    };
  }
}

/** Kept as long as if it had just been stored: when it was stored is not certain. */
function keptFrom(one: StoredRevocation, now: number): StoredRevocation {
  return { ...one, keepUntil: Math.max(one.keepUntil, now + KEEP_MS) };
}

/** @param ahead by how much the clock of this process is ahead of the one that counts */
function stored(row: RevocationRow, ahead: number): StoredRevocation {
  return {
    kind: row.kind,
    value: row.value,
    subjectType: row.subject_type ?? undefined,
    issuedUntil: row.issued_until === null ? undefined : Number(row.issued_until),
    // PostgreSQL sends whole numbers of 64 bits as text.
    keepUntil: Math.min(Number(row.keep_until) + ahead, LATEST_MS),
  };
}
