import { createHash, randomBytes } from "node:crypto";
import type { ServiceDatabase } from "svc-access/database";
import { MissingKeyError, type SecretBox, UnsealError } from "../../ground/secrets/secret-box.ts";
import type {
  BrowserSessionRow,
  BrowserSessionTables,
} from "../../ground/store/browser-session-tables.ts";

/** The tokens of a session. A text that the provider did not give is empty. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
}

/** Whose session it is. */
export interface SessionSubject {
  readonly subjectType: string;
  readonly subjectId: string;
}

/** A login whose callback has come. */
export interface StartedLogin {
  readonly state: string;
  readonly subject: SessionSubject;
  readonly tokens: SessionTokens;
  /** When the access token should be refreshed, in milliseconds since the epoch. */
  readonly refreshTime: number;
}

/** The login of a browser. */
export interface BrowserSession extends SessionSubject {
  /** The hash of its cookie's token. */
  readonly id: string;
  readonly tokens: SessionTokens;
  /** When the access token should be refreshed, in milliseconds since the epoch. */
  readonly refreshTime: number;
}

/** How long sessions last, in milliseconds. */
export interface SessionTimes {
  /** Without a request. */
  readonly idleMs: number;
  /** At most. */
  readonly absoluteMs: number;
}

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** How exact the time of the last use is: most requests then write nothing. */
const SEEN_MS = 60_000;
/** How long a refresh may take before another process tries it. */
export const REFRESH_MS = 10_000;

/** The sealed column of the sessions. */
export const SEALED_SESSIONS = {
  table: "iam_browser_sessions",
  column: "tokens",
  key: ["id"],
} as const;

/** The sessions of browsers, in the database that all replicas share. Cookies are stored as hashes. */
export class BrowserSessions {
  readonly #database: ServiceDatabase<BrowserSessionTables>;
  readonly #box: SecretBox;
  readonly #times: SessionTimes;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(
    database: ServiceDatabase<BrowserSessionTables>,
    box: SecretBox,
    times: SessionTimes,
    now: () => number = Date.now,
  ) {
    this.#database = database;
    this.#box = box;
    this.#times = times;
    this.#now = now;
  }

  /**
   * Begins a session.
   *
   * @returns the token for its cookie, and how long that may be kept; undefined if the login has
   * begun a session before
   */
  async begin({ state, subject, tokens, refreshTime }: StartedLogin) {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const id = hash(token);
    const now = this.#now();
    const { idleMs, absoluteMs } = this.#times;
    const { numInsertedOrUpdatedRows = 0n } = await this.#database.kysely
      .insertInto("iam_browser_sessions")
      .values({
        id,
        login_id: hash(state),
        subject_type: subject.subjectType,
        subject_id: subject.subjectId,
        tokens: this.#seal(id, tokens),
        refresh_time: refreshTime,
        refreshing_until: 0,
        create_time: now,
        seen_time: now,
        expire_time: now + Math.min(idleMs, absoluteMs),
      })
      .onConflict((conflict) => conflict.column("login_id").doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return undefined;
    return { token, seconds: absoluteMs / 1000 };
  }

  /** The session of a cookie's token, which is used now; undefined if there is none, or it is over. */
  async use(token: string): Promise<BrowserSession | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const row = await this.#row(hash(token));
    if (row === undefined) return undefined;
    await this.#seen(row);
    return this.#session(row);
  }

  /** A session as it is now. */
  async find(id: string): Promise<BrowserSession | undefined> {
    const row = await this.#row(id);
    return row && this.#session(row);
  }

  /** Whether this process refreshes the tokens of a session as it was read; one does at a time. */
  async beginRefresh({ id, refreshTime }: BrowserSession): Promise<boolean> {
    const now = this.#now();
    const { numUpdatedRows } = await this.#database.kysely
      .updateTable("iam_browser_sessions")
      .set({ refreshing_until: now + REFRESH_MS })
      .where("id", "=", id)
      .where("refresh_time", "=", refreshTime)
      .where("refreshing_until", "<=", now)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Ends a refresh.
   *
   * @param refreshed the new tokens; absent, it did not succeed, and may be tried again
   * @returns false if the session has ended in the meantime
   */
  async endRefresh(
    id: string,
    refreshed?: { readonly tokens: SessionTokens; readonly refreshTime: number },
  ): Promise<boolean> {
    const changes =
      refreshed === undefined
        ? {}
        : { tokens: this.#seal(id, refreshed.tokens), refresh_time: refreshed.refreshTime };
    const { numUpdatedRows } = await this.#database.kysely
      .updateTable("iam_browser_sessions")
      .set({ ...changes, refreshing_until: 0 })
      .where("id", "=", id)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Ends a session, at all replicas at once.
   *
   * @returns it; undefined if it is over already, or was changed in the database
   * @throws MissingKeyError if its tokens cannot be read here: it continues, since its login at the
   * provider would too
   */
  async end(id: string): Promise<BrowserSession | undefined> {
    const known = await this.#row(id);
    if (known !== undefined) this.#unlessChanged(known);
    const row = await this.#database.kysely
      .deleteFrom("iam_browser_sessions")
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    return row && this.#unlessChanged(row);
  }

  /** Ends the session of a cookie's token. */
  async endOf(token: string): Promise<BrowserSession | undefined> {
    return TOKEN.test(token) ? this.end(hash(token)) : undefined;
  }

  /** Deletes the session of a cookie's token, whatever is in it: another login takes its place. */
  async remove(token: string): Promise<void> {
    if (!TOKEN.test(token)) return;
    await this.#database.kysely
      .deleteFrom("iam_browser_sessions")
      .where("id", "=", hash(token))
      .execute();
  }

  /** Deletes those that are over. */
  async removeExpired(): Promise<void> {
    await this.#database.kysely
      .deleteFrom("iam_browser_sessions")
      .where("expire_time", "<=", this.#now())
      .execute();
  }

  #row(id: string): Promise<BrowserSessionRow | undefined> {
    return this.#database.kysely
      .selectFrom("iam_browser_sessions")
      .selectAll()
      .where("id", "=", id)
      .where("expire_time", ">", this.#now())
      .executeTakeFirst();
  }

  async #seen(row: BrowserSessionRow): Promise<void> {
    const now = this.#now();
    const { idleMs, absoluteMs } = this.#times;
    // PostgreSQL sends whole numbers of 64 bits as text.
    if (now - Number(row.seen_time) < Math.min(SEEN_MS, idleMs / 2)) return;
    const expireTime = Math.min(now + idleMs, Number(row.create_time) + absoluteMs);
    await this.#database.kysely
      .updateTable("iam_browser_sessions")
      .set({ seen_time: now, expire_time: expireTime })
      .where("id", "=", row.id)
      .execute();
  }

  #session(row: BrowserSessionRow): BrowserSession {
    const { id, subject_type: subjectType, subject_id: subjectId } = row;
    const tokens = JSON.parse(this.#box.open(row.tokens, placeOf(id))) as SessionTokens;
    return { id, subjectType, subjectId, tokens, refreshTime: Number(row.refresh_time) };
  }

  #unlessChanged(row: BrowserSessionRow): BrowserSession | undefined {
    try {
      return this.#session(row);
    } catch (error) {
      if (error instanceof MissingKeyError || !(error instanceof UnsealError)) throw error;
      return undefined;
    }
  }

  #seal(id: string, { accessToken, refreshToken, idToken }: SessionTokens): string {
    return this.#box.seal(JSON.stringify({ accessToken, refreshToken, idToken }), placeOf(id));
  }
}

function placeOf(id: string) {
  return { table: SEALED_SESSIONS.table, column: SEALED_SESSIONS.column, row: id };
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
