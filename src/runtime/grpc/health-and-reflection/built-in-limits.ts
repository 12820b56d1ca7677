/** What the built-in RPCs may take: their callers prove nothing, and no rate limit sees them. */
export interface BuiltInLimits {
  /** How long the first message of a request may take, and with it a call that is one message each way. */
  readonly requestMs: number;
  /** How many calls may wait for it; beyond, the one that has waited longest ends. */
  readonly unheard: number;
  /** How long a call may watch health. */
  readonly streamMs: number;
  /** How many calls may watch health: of the process, and of one connection. */
  readonly watchers: number;
  readonly watchersOfConnection: number;
  /** How long a call of reflection may take, and how long its client may neither ask nor take an answer. */
  readonly reflectionMs: number;
  readonly silenceMs: number;
  /** How many calls of reflection there may be: of the process, and of one connection. */
  readonly reflections: number;
  readonly reflectionsOfConnection: number;
  /** How many of their answers may be under way; the others wait. */
  readonly answersAtOnce: number;
}

export const DEFAULT_BUILT_IN_LIMITS: BuiltInLimits = {
  // Clients send it in one piece with the headers.
  requestMs: 5_000,
  unheard: 1024,
  // As long as other streams, where the configuration does not say.
  streamMs: 3_600_000,
  // A client watches once for each of its connections, a proxy for all clients behind it. Each
  // watcher costs up to 20 KiB.
  watchers: 1024,
  watchersOfConnection: 64,
  // Somebody at a console, who may think between questions; clients open another call then.
  reflectionMs: 300_000,
  silenceMs: 30_000,
  // Some clients ask for all services at once, each in a call of its own, and a connection has
  // 1000 calls at most.
  reflections: 2048,
  reflectionsOfConnection: 1024,
  // An answer is of more than a MiB where the services are many.
  answersAtOnce: 16,
};
