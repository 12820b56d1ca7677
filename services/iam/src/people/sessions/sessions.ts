import type { Transaction } from "svc-access/database";
import type { ProviderDatabase } from "../../ground/store/provider-database.ts";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import { isStorable } from "../../ground/store/storable-text.ts";
import { type LoginSession, type SeenSession, sessionOf, sessionRow } from "./login-session.ts";
import {
  removeAccountDocuments,
  removeSessionDocuments,
  type SessionEnd,
} from "./remove-documents.ts";
import type { Revocations } from "./revocations.ts";
import type { EndedWithChange } from "./user-sessions.ts";

/** How long a session is kept after its end: what it had begun must not bring it back. */
export const KEEP_ENDED_MS = 3_600_000;
/** How many sessions of an account are read at once. */
const MOST = 1000;
/** How many sessions end in the transaction of a change; the others follow at once. */
const MOST_WITH_CHANGE = 100;

/** What belongs to a login. */
export interface SessionParts {
  /** Whether the login may be stored, and remains so until the transaction ends. */
  readonly mayStore: (tx: Transaction<ProviderTables>) => Promise<boolean>;
  /** Stores what belongs to it. */
  readonly store: (tx: Transaction<ProviderTables>) => Promise<void>;
}

/** The logins of people: what is listed and ended. */
export class Sessions {
  readonly #database: ProviderDatabase;
  readonly #revocations: Revocations;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: ProviderDatabase, revocations: Revocations, now: () => number = Date.now) {
    this.#database = database;
    this.#revocations = revocations;
    this.#now = now;
  }

  /**
   * Stores a login that is used now, and what belongs to it, in one transaction.
   *
   * @returns false if it was ended in the meantime, or may not be stored; nothing is stored then
   */
  async save(session: SeenSession, { mayStore, store }: SessionParts): Promise<boolean> {
    const {
      id: _id,
      kind: _kind,
      create_time: _created,
      ...changes
    } = sessionRow(session, this.#now());
    return this.#database.transaction(async (tx) => {
      if (!(await mayStore(tx))) return false;
      const rows = await tx
        .insertInto("iam_sessions")
        .values(sessionRow(session, this.#now()))
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(changes).where("iam_sessions.ended_time", "is", null),
        )
        .returning("id")
        .execute();
      if (rows.length === 0) return false;
      await store(tx);
      return true;
    });
  }

  /**
   * Stores what a login approves, such as another device, in one transaction.
   *
   * @param id the session of the login; one that is not stored yet is a login of the same request
   * @returns false if the login was ended in the meantime, or may not be stored; nothing is stored then
   */
  async saveApproved(id: string, { mayStore, store }: SessionParts): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      if (!(await mayStore(tx))) return false;
      // It locks the row: the end of the session waits, and deletes what is stored here.
      const session = await tx
        .updateTable("iam_sessions")
        .set((row) => ({ ended_time: row.ref("ended_time") }))
        .where("id", "=", id)
        .returning("ended_time")
        .executeTakeFirst();
      if (session !== undefined && session.ended_time !== null) return false;
      await store(tx);
      return true;
    });
  }

  /** Postpones the expiry of a session that was used, at most to its end. */
  async touch(id: string, expireTime: number): Promise<void> {
    await this.#database.run((db) =>
      db
        .updateTable("iam_sessions")
        .set((row) => ({
          seen_time: this.#now(),
          expire_time: row
            .case()
            .when("end_time", "<", expireTime)
            .then(row.ref("end_time"))
            .else(row.cast(row.val(expireTime), "bigint"))
            .end() as never,
        }))
        .where("id", "=", id)
        .where("ended_time", "is", null)
        .execute(),
    );
  }

  /** The sessions of an account, the one that was used last first; at most 1,000. */
  async list(accountId: string): Promise<LoginSession[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_sessions")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("ended_time", "is", null)
        .where("expire_time", ">", this.#now())
        .orderBy("seen_time", "desc")
        .orderBy("id")
        .limit(MOST)
        .execute(),
    );
    return rows.map(sessionOf);
  }

  /**
   * Ends a session: its refresh tokens at once, its access tokens as soon as services have read the
   * revocations.
   *
   * @param accountId whose session it must be
   * @returns the session; undefined if there is none
   */
  async end(
    id: string,
    accountId: string,
    end: SessionEnd = { keepsCodes: false },
  ): Promise<LoginSession | undefined> {
    if (!isStorable(id)) return undefined;
    const ended = await this.#end(id, accountId, end);
    if (ended !== undefined) await this.#revocations.announce();
    return ended;
  }

  /** Ends a session; `announce` of the revocations is left to the caller. */
  #end(id: string, accountId: string, end: SessionEnd): Promise<LoginSession | undefined> {
    return this.#database.transaction(async (tx) => {
      const row = await tx
        .updateTable("iam_sessions")
        .set({ ended_time: this.#now(), expire_time: this.#now() + KEEP_ENDED_MS })
        .where("id", "=", id)
        .where("account_id", "=", accountId)
        .where("ended_time", "is", null)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const session = sessionOf(row);
      const { clients } = session;
      await removeSessionDocuments(
        tx,
        id,
        clients.map(({ grantId }) => grantId),
        end,
      );
      await this.#revocations.add(
        tx,
        clients.map(({ sid }) => ({ kind: "sid", value: sid })),
      );
      return session;
    });
  }

  /** Ends the sessions that are left of an account. */
  async #endAll(accountId: string, except?: string): Promise<LoginSession[]> {
    const ended: LoginSession[] = [];
    let after = "";
    for (;;) {
      const ids = await this.#idsAfter(after, accountId);
      const before = ended.length;
      for (const id of ids) {
        after = id;
        if (id === except) continue;
        const session = await this.#end(id, accountId, { keepsCodes: false });
        if (session !== undefined) ended.push(session);
      }
      // Once for all of them: it may wait for what this replica reads.
      if (ended.length > before) await this.#revocations.announce();
      if (ids.length < MOST) return ended;
    }
  }

  /**
   * Ends the sessions of an account, with all that was issued to it, in one transaction with the change
   * that makes them end. The caller then lets it finish.
   *
   * @param change returns false if nothing was changed: nothing ends then. It runs again if others
   * change the same rows
   * @param except one that continues
   * @returns undefined if nothing was changed
   */
  async endWith(
    accountId: string,
    change: (tx: Transaction<ProviderTables>) => Promise<boolean>,
    except?: LoginSession,
  ): Promise<EndedWithChange | undefined> {
    const ended = await this.#database.transaction(async (tx) => {
      if (!(await change(tx))) return undefined;
      const rows = await tx
        .updateTable("iam_sessions")
        .set({ ended_time: this.#now(), expire_time: this.#now() + KEEP_ENDED_MS })
        .where("id", "in", (db) =>
          db
            .selectFrom("iam_sessions")
            .select("id")
            .where("account_id", "=", accountId)
            .where("ended_time", "is", null)
            .where("id", "!=", except?.id ?? "")
            .orderBy("seen_time", "desc")
            .limit(MOST_WITH_CHANGE),
        )
        .returningAll()
        .execute();
      const sessions = rows.map(sessionOf);
      await removeAccountDocuments(tx, accountId, except);
      await this.#revocations.add(
        tx,
        sessions.flatMap(({ clients }) => clients.map(({ sid }) => ({ kind: "sid", value: sid }))),
      );
      return sessions;
    });
    if (ended === undefined) return undefined;
    const finish = async () => {
      await this.#revocations.announce();
      // Nobody has more, except who logs in to fill the database.
      return [...ended, ...(await this.#endAll(accountId, except?.id))];
    };
    return { ended, finish };
  }

  async #idsAfter(after: string, accountId: string): Promise<string[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_sessions")
        .select("id")
        .where("account_id", "=", accountId)
        .where("ended_time", "is", null)
        .where("id", ">", after)
        .orderBy("id")
        .limit(MOST)
        .execute(),
    );
    return rows.map(({ id }) => id);
  }

  /** Deletes those that have expired, and those that ended a while ago. */
  async removeExpired(): Promise<void> {
    await this.#database.run((db) =>
      db.deleteFrom("iam_sessions").where("expire_time", "<", this.#now()).execute(),
    );
  }
}
