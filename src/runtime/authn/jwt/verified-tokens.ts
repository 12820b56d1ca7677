import { hash } from "node:crypto";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "../identity/authenticator.ts";
import { BearerRefused, BearerUnchecked, bearerToken, refusedToken } from "./bearer-token.ts";
import { type JwtRules, type VerifiedToken, verifyJwt } from "./jwt-verifier.ts";
import type { KeySet } from "./key-set.ts";
import type { RevocationList } from "./revocation-list.ts";

/** What the verification of the tokens of one provider needs. */
export interface VerifiedTokensOptions {
  readonly keys: KeySet;
  readonly rules: JwtRules;
  /** How long a verified token is remembered. */
  readonly cacheTtlMs: number;
  readonly revocations: RevocationList;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly events: RuntimeEvents;
}

/** The cached data of a verified token. */
interface KnownToken {
  readonly token: VerifiedToken;
  readonly until: number;
}

const CACHE_CAPACITY = 10_000;
/** Of how many verified tokens the digest is remembered, and how long they may be: 8 MB at most. */
const DIGESTS = 2_000;
const MAX_DIGESTED_LENGTH = 4_096;
/** How many of the last characters, which are of the signature, find a token. */
const TAIL = 24;

/** Verifies the access tokens of one provider, and remembers them for a while. */
export class VerifiedTokens {
  readonly #options: VerifiedTokensOptions;
  readonly #cache = new TokenCache<KnownToken>(CACHE_CAPACITY);
  /**
   * The digests of tokens by their ends: a digest takes longer than all else here, and so does the look-up of a whole
   * token in a map. Only of tokens that were verified, so that others cannot fill it.
   */
  readonly #digests = new TokenCache<{ readonly text: string; readonly digest: string }>(DIGESTS);

  constructor(options: VerifiedTokensOptions) {
    this.#options = options;
    options.events.expect("cache", "jwt");
  }

  /**
   * A token, if it is valid now. A token that is remembered is there without waiting.
   *
   * @param text of at most MAX_TOKEN_LENGTH characters
   * @throws ServiceError UNAUTHORIZED if it is not acceptable; UNAVAILABLE if that cannot be known
   * now
   */
  verify(text: string): VerifiedToken | Promise<VerifiedToken> {
    const remembered = this.#digests.peek(text.slice(-TAIL));
    const isRemembered = remembered?.text === text;
    const digest = isRemembered ? remembered.digest : hash("sha256", text, "base64");
    if (this.#cache.has(digest) && !this.#options.keys.isFresh()) {
      return this.#recallLater(text, digest);
    }
    const known = this.#recall(digest);
    if (known === undefined) return this.#verify(text, digest);
    if (!isRemembered) this.#rememberDigest(text, digest);
    return known;
  }

  /** @param text a token that was verified */
  #rememberDigest(text: string, digest: string): void {
    if (text.length <= MAX_DIGESTED_LENGTH) this.#digests.set(text.slice(-TAIL), { text, digest });
  }

  /** After a refresh of the keys, the key of a cached token may have been withdrawn. */
  async #recallLater(text: string, digest: string): Promise<VerifiedToken> {
    await this.#options.keys.refresh();
    return this.#recall(digest) ?? this.#verify(text, digest);
  }

  /** The cached data of a token, if it is still valid. */
  #recall(digest: string): VerifiedToken | undefined {
    const { keys, events, now, cacheTtlMs } = this.#options;
    const known = this.#cache.get(digest);
    const left = known === undefined ? 0 : known.until - now();
    // If the clock was set back, more than the whole time is left: then the token is verified
    // again.
    const isInTime = left > 0 && left <= cacheTtlMs;
    const isKnown = known !== undefined && isInTime && keys.holds(known.token.key);
    events.cache("jwt", isKnown ? "hit" : "miss");
    if (isKnown) {
      this.#requireValid(known.token);
      return known.token;
    }
    if (known !== undefined) this.#cache.delete(digest);
    return undefined;
  }

  async #verify(text: string, digest: string): Promise<VerifiedToken> {
    const { keys, rules, cacheTtlMs, now } = this.#options;
    const token = await verifyJwt(text, keys, rules, now);
    this.#requireValid(token);
    this.#cache.set(digest, { token, until: now() + cacheTtlMs });
    this.#rememberDigest(text, digest);
    return token;
  }

  /** Checks what can change after a token was verified. */
  #requireValid(token: VerifiedToken): void {
    const { rules, revocations, now } = this.#options;
    if (now() >= token.expiresAt + rules.clockSkewMs) throw refusedToken("expired");
    if (isRevoked(revocations, token)) throw new BearerRefused("revoked");
  }
}

/** A list that is unavailable also refuses the bearer. */
function isRevoked(revocations: RevocationList, token: VerifiedToken): boolean {
  try {
    return revocations.isRevoked(token);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "UNAVAILABLE") throw error;
    throw new BearerUnchecked({ cause: error });
  }
}

/** An entry of the cache, and how many entries had been placed at the end when it was. */
interface CacheEntry<Value> {
  readonly value: Value;
  placed: number;
}

/**
 * A bounded cache that evicts an entry that was not used lately: since its last use, at least half of
 * the capacity was placed after it. To move an entry at each use would cost more than to find it.
 */
export class TokenCache<Value> {
  readonly #capacity: number;
  /** Those that were placed last are at the end: a map keeps insertion order. */
  readonly #entries = new Map<string, CacheEntry<Value>>();
  #placed = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Does not count as a use. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Does not count as a use. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#placed - entry.placed >= this.#capacity / 2) {
      this.#entries.delete(key);
      this.#place(key, entry);
    }
    return entry.value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#capacity) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    this.#place(key, { value, placed: 0 });
  }

  #place(key: string, entry: CacheEntry<Value>): void {
    entry.placed = ++this.#placed;
    this.#entries.set(key, entry);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/** Recognises callers by the access tokens of one provider. */
export class JwtAuthenticator implements Authenticator {
  readonly name = "jwt";
  readonly #tokens: VerifiedTokens;

  constructor(tokens: VerifiedTokens) {
    this.#tokens = tokens;
  }

  authenticate({
    headers,
  }: AuthenticationRequest): Identity | undefined | Promise<Identity | undefined> {
    const text = bearerToken(headers);
    if (text === undefined) return undefined;
    const token = this.#tokens.verify(text);
    return token instanceof Promise ? token.then(({ identity }) => identity) : token.identity;
  }
}
