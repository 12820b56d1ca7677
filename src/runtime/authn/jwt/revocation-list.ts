/**
 * The identity of a token; not a hash of its text, since a token can be encoded in several ways.
 */
export interface RevocableToken {
  /** The claim `jti` (RFC 7519); undefined if the token has none. */
  readonly id: string | undefined;
  /** The claim `sub`. */
  readonly subject: string;
  /** The subject type: `user` or `service_account`. */
  readonly subjectType: string;
  /** The claim `sid`: the session that it belongs to; undefined if the token has none. */
  readonly sessionId: string | undefined;
  /** The claim `iat`, in milliseconds since the epoch: when it was issued, by the provider's clock. */
  readonly iat: number;
  /**
   * The earliest time at which it may have been issued, in milliseconds since the epoch: its claim
   * `iat` less the accepted clock skew, for the provider's clock may be that far ahead of this one.
   */
  readonly issuedAt: number;
}

/**
 * Decides which tokens are revoked before they expire. Called for each call, so it must not wait.
 *
 * @example
 * ```ts
 * const ids = new Set<string>();
 * const revocations: RevocationList = {
 *   // A token without an id could not be revoked, so it is not accepted.
 *   isRevoked: ({ id }) => id === undefined || ids.has(id),
 * };
 * ```
 */
export interface RevocationList {
  /**
   * Whether the token is revoked. If this throws, the call is refused; throw UNAVAILABLE if it is
   * not known now.
   */
  isRevoked(token: RevocableToken): boolean;
}

/**
 * A bounded revocation list in memory. It only knows the revocations of this process, until it
 * ends.
 *
 * @example
 * ```ts
 * const revocations = new MemoryRevocationList();
 * const server = await createServer({ configuration, bindings, revocations });
 * // At logout, where tokens live ten minutes and clocks may differ by one:
 * revocations.revokeSubject("alice", Date.now() + (10 + 2 * 1) * 60_000);
 * ```
 */
export class MemoryRevocationList implements RevocationList {
  readonly #capacity: number;
  readonly #now: () => number;
  /** When the revocation of a token may be forgotten, by its id. */
  readonly #tokens = new Map<string, number>();
  readonly #subjects = new Map<string, { readonly before: number; readonly until: number }>();

  /**
   * @param capacity how many revocations are kept
   * @param now milliseconds since the epoch, for tests
   */
  constructor(capacity = 100_000, now: () => number = Date.now) {
    this.#capacity = capacity;
    this.#now = now;
  }

  /**
   * Revokes one token.
   *
   * @param id its claim `jti`
   * @param until when it expires, clock skew included, in milliseconds since the epoch
   * @throws RangeError if the list is full of revocations that still count
   */
  revokeToken(id: string, until: number): void {
    this.#makeRoom(this.#tokens.has(id));
    this.#tokens.set(id, Math.max(until, this.#tokens.get(id) ?? 0));
  }

  /**
   * Revokes all tokens of a subject, of whatever subject type, that may have been issued up to now.
   * The provider's clock may be ahead, so this includes those whose `iat` is later by up to
   * `clock_skew_ns`: who logs in again within that time is refused, until the token is renewed
   * after it.
   *
   * @param subject their claim `sub`
   * @param until when the last of them is no longer accepted, in milliseconds since the epoch: now, the
   * longest life of a token, and twice the clock skew (they may carry a later `iat`, and count that long
   * after their `exp`)
   * @throws RangeError if the list is full of revocations that still count
   */
  revokeSubject(subject: string, until: number): void {
    const known = this.#subjects.get(subject);
    this.#makeRoom(known !== undefined);
    this.#subjects.set(subject, {
      // A clock that was set back does not make them valid again.
      before: Math.max(this.#now(), known?.before ?? 0),
      until: Math.max(until, known?.until ?? 0),
    });
  }

  /** Whether the token, or its subject until after it was issued, was revoked. */
  isRevoked({
    id,
    subject,
    issuedAt,
  }: Pick<RevocableToken, "id" | "subject" | "issuedAt">): boolean {
    if (id !== undefined && this.#tokens.has(id)) return true;
    const revoked = this.#subjects.get(subject);
    return revoked !== undefined && issuedAt <= revoked.before;
  }

  /**
   * Removing a revocation that is still needed would make its token valid again, so the next one is
   * refused instead.
   */
  #makeRoom(isKnown: boolean): void {
    const isFull = () => this.#tokens.size + this.#subjects.size >= this.#capacity;
    if (isKnown || !isFull()) return;
    const now = this.#now();
    for (const [id, until] of this.#tokens) if (until <= now) this.#tokens.delete(id);
    for (const [subject, { until }] of this.#subjects) {
      if (until <= now) this.#subjects.delete(subject);
    }
    if (isFull()) throw new RangeError("the revocation list is full");
  }
}
