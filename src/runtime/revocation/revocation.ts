/**
 * Tokens that no longer count before they expire: those of a session, one token, or those of a
 * subject up to a time. All times are milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const hour = 3_600_000;
 * const logout: Revocation = { sessionId: "s-17", keepUntil: Date.now() + hour };
 * const reset: Revocation = {
 *   subject: { type: "user", id: "alice", issuedUntil: Date.now() },
 *   keepUntil: Date.now() + hour,
 * };
 * ```
 */
export type Revocation = RevokedTokens & {
  /**
   * Until when it must be kept: the last of its tokens is no longer accepted then, clock skew
   * included.
   */
  readonly keepUntil: number;
};

/** The tokens of a session, one token, or those of a subject. */
export type RevokedTokens =
  | {
      /** The tokens of a session: their claim `sid`, of 1 to 512 characters. */
      readonly sessionId: string;
    }
  | {
      /** One token: its claim `jti`, of 1 to 512 characters. */
      readonly tokenId: string;
    }
  | {
      /** The tokens of a subject that were issued up to a time. */
      readonly subject: RevokedSubject;
    };

/** The tokens of a subject that were issued up to a time. */
export interface RevokedSubject {
  /** The subject type. */
  readonly type: "user" | "service_account";
  /** The claim `sub`. */
  readonly id: string;
  /**
   * The tokens whose claim `iat` is at or before this time no longer count; it includes how far the
   * clocks of those who issue tokens may be apart. In milliseconds since the epoch.
   */
  readonly issuedUntil: number;
}

/** The most characters of a `sid` or a `jti`, as tokens may have. */
export const MAX_ID_LENGTH = 512;

/** The last millisecond of the year 9999, and of a Timestamp. */
export const MAX_TIME = 253_402_300_799_999;

/** The most revocations of one response. */
export const MAX_BATCH = 1000;

/** How often revocations that need not be kept are looked for. */
export const FORGET_EVERY_MS = 60_000;

/** How long a feed is silent at most if nothing happens. */
export const HEARTBEAT_MS = 2000;
