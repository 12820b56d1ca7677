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

/** Verifies the access tokens of one provider, and remembers them for a while. */
export class VerifiedTokens {
  readonly #options: VerifiedTokensOptions;
  readonly #cache = new TokenCache<KnownToken>(CACHE_CAPACITY);

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
    const digest = hash("sha256", text, "base64");
    return this.#cache.has(digest) && !this.#options.keys.isFresh()
      ? this.#recallLater(text, digest)
      : (this.#recall(digest) ?? this.#verify(text, digest));
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

/** A bounded cache that evicts the least recently used entry. */
export class TokenCache<Value> {
  readonly #capacity: number;
  readonly #entries = new Map<string, Value>();

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

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // A map keeps insertion order: the most recently used entry is at the end.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#capacity) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, value);
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
