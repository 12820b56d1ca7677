/**
 * The events of the parts of the runtime, for metrics. All methods are synchronous and do not
 * throw.
 */
export interface RuntimeEvents {
  /** Such an event may come of this authenticator, cache, RPC or job; before that, counts of it are 0. */
  expect(event: "authentication" | "cache" | "rateLimited" | "job", name: string): void;
  /** Identity headers of a peer that is not trusted were dropped. */
  identityHeadersDropped(): void;
  /** An authenticator was asked: `name` is its own. */
  authentication(name: string, outcome: "identified" | "rejected" | "unavailable"): void;
  /**
   * The authorization stage has come to an end; also `unavailable` if a handler failed since the engine did not
   * answer it.
   */
  authorization(outcome: "allowed" | "denied" | "unavailable" | "invalid"): void;
  /** A call was refused by the rate limit of its RPC, which is named in full. */
  rateLimited(rpc: string): void;
  /**
   * An audit event was stored, waits to be tried again, or was counted with others; `refused`: a
   * call ended before its handler, since its intent could not be stored; `dropped`: the event is lost.
   */
  audit(outcome: "stored" | "delayed" | "refused" | "dropped" | "coalesced"): void;
  /** A cache was asked, such as `jwt` or `jwks`. */
  cache(name: string, outcome: "hit" | "miss"): void;
  /** The route registry was reached or lost. */
  registry(outcome: "published" | "lost" | "failed"): void;
  /** The file of a secret was read again: it has changed, or cannot be used. */
  secretFile(outcome: "changed" | "failed"): void;
  /** A response was cut off: its client did not read it, and others needed the memory. */
  responseCutOff(): void;
  /** A run of a job has ended, or has passed its deadline. */
  job(name: string, outcome: "succeeded" | "failed" | "timed_out"): void;
}

/** For those who do not listen. */
export const NO_EVENTS: RuntimeEvents = {
  expect() {},
  identityHeadersDropped() {},
  authentication() {},
  authorization() {},
  rateLimited() {},
  audit() {},
  cache() {},
  registry() {},
  secretFile() {},
  responseCutOff() {},
  job() {},
};
