/** The limits of the built-in RPCs: their callers are not authenticated, and have no rate limit. */
export interface BuiltInLimits {
  /** How long the first message of a request may take, and so a unary call. */
  readonly requestMs: number;
  /** How many calls may wait for it; beyond that, the one that has waited longest ends. */
  readonly unheard: number;
  /** How long a call may watch health. */
  readonly streamMs: number;
  /** How many calls may watch health: of the process, and of one connection. */
  readonly watchers: number;
  readonly watchersOfConnection: number;
  /**
   * How long a reflection call may take, and how long its client may neither send a request nor
   * read a response.
   */
  readonly reflectionMs: number;
  readonly silenceMs: number;
  /** How many reflection calls there may be: of the process, and of one connection. */
  readonly reflections: number;
  readonly reflectionsOfConnection: number;
  /** How many of their answers may be under way; the others wait. */
  readonly answersAtOnce: number;
}

export const DEFAULT_BUILT_IN_LIMITS: BuiltInLimits = {
  // Clients send it in one piece with the headers.
  requestMs: 5_000,
  unheard: 1024,
  // The default of other streams.
  streamMs: 3_600_000,
  // A client watches once for each of its connections, a proxy for all clients behind it. Each
  // watcher costs up to 20 KiB.
  watchers: 1024,
  watchersOfConnection: 64,
  // Allows for a person at a console between requests; clients open another call then.
  reflectionMs: 300_000,
  silenceMs: 30_000,
  // Some clients ask for all services at once, each in a call of its own, and a connection has
  // 1000 calls at most.
  reflections: 2048,
  reflectionsOfConnection: 1024,
  // An answer is of more than a MiB where the services are many.
  answersAtOnce: 16,
};
