import type { SessionRow } from "../../ground/store/session-tables.ts";

/** A client that somebody has logged in to. */
export interface SessionClient {
  readonly clientId: string;
  /** The claim `sid` of its tokens. */
  readonly sid: string;
  readonly grantId: string;
}

/** A login in a browser, or on a device that was approved in one. */
export interface LoginSession {
  readonly id: string;
  readonly kind: "browser" | "device";
  readonly accountId: string;
  readonly clients: readonly SessionClient[];
  /** The address of the client at its last login. */
  readonly address: string;
  /** What the browser or device says it is. */
  readonly userAgent: string;
  /** Milliseconds since the epoch, as all times. */
  readonly createTime: number;
  /** When it was last used: by a login or a refresh. */
  readonly seenTime: number;
  /** When it ends if it is not used. */
  readonly expireTime: number;
  /** When it ends, however much it is used; undefined if it began before this was stored. */
  readonly endTime: number | undefined;
}

/** What the provider says of a login. */
export type SeenSession = Omit<LoginSession, "createTime" | "seenTime">;

const MAX_AGENT = 256;
const MAX_ADDRESS = 64;
/** Controls, halves of characters, and what changes the direction of text. */
const UNPRINTABLE = /\p{C}/gu;

/** The row of a login that is used now. */
export function sessionRow(session: SeenSession, now: number): SessionRow {
  return {
    id: session.id,
    kind: session.kind,
    account_id: session.accountId,
    clients: JSON.stringify(session.clients),
    address: session.address.slice(0, MAX_ADDRESS),
    user_agent: session.userAgent.slice(0, MAX_AGENT).replace(UNPRINTABLE, " "),
    create_time: now,
    seen_time: now,
    expire_time: session.expireTime,
    ended_time: null,
    end_time: session.endTime ?? null,
  };
}

/** The login of a row. */
export function sessionOf(row: SessionRow): LoginSession {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    clients: JSON.parse(row.clients),
    address: row.address,
    userAgent: row.user_agent,
    // PostgreSQL sends whole numbers of 64 bits as text.
    createTime: Number(row.create_time),
    seenTime: Number(row.seen_time),
    expireTime: Number(row.expire_time),
    endTime: row.end_time === null ? undefined : Number(row.end_time),
  };
}
