import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { v1 } from "@authzed/authzed-node";
import { AuthzError } from "../authz-error.ts";
import { abortError, didNothing, isGrpcFailure, mapGrpcError } from "./map-error.ts";

/** Where SpiceDB is, and how it is called. */
export interface ConnectionOptions {
  /** `host:port`. */
  readonly endpoint: string;
  /** The preshared key; never in a message. */
  readonly token: string;
  /** Without TLS: inside a mesh or on one machine only. */
  readonly insecure?: boolean;
  /** How long a call may take, with its retries; 5,000 where absent. */
  readonly deadlineMs?: number;
}

/** What a call is given: when it must be done, and how it is stopped. */
export interface CallContext {
  readonly deadline: Date;
  /** Stops the call when the caller has gone. */
  readonly onAbort: (cancel: () => void) => void;
}

type Callback<Response> = (error: Error | null, response?: Response) => void;
/** Whether a call may be sent again: a read always, a write only where it certainly did nothing. */
export type CallKind = "read" | "write";

const ATTEMPTS = 4;
const BACKOFF_MS = 50;
const CHANNEL = {
  // A server that comes back is found within seconds; the default goes up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2000,
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
};

/** The calls to one SpiceDB: with deadlines, bounded retries and our errors. */
export class Connection {
  readonly client: v1.ZedClientInterface;
  readonly #token: string;
  readonly #deadlineMs: number;
  readonly #closing = new AbortController();

  constructor({ endpoint, token, insecure = false, deadlineMs = 5000 }: ConnectionOptions) {
    const { SECURE, INSECURE_PLAINTEXT_CREDENTIALS } = v1.ClientSecurity;
    const security = insecure ? INSECURE_PLAINTEXT_CREDENTIALS : SECURE;
    // No preconnection flags (0): the services connect when they are first used.
    this.client = v1.NewClient(token, endpoint, security, 0, CHANNEL);
    this.#token = token;
    // Each call under way listens.
    setMaxListeners(0, this.#closing.signal);
    this.#deadlineMs = deadlineMs;
  }

  /** Makes a call with one answer. */
  unary<Response>(
    kind: CallKind,
    signal: AbortSignal | undefined,
    start: (options: { deadline: Date }, callback: Callback<Response>) => { cancel(): void },
  ): Promise<Response> {
    return this.#retry(
      kind,
      signal,
      ({ deadline, onAbort }) =>
        new Promise((resolve, reject) => {
          const call = start({ deadline }, (error, response) =>
            error === null ? resolve(response as Response) : reject(error),
          );
          onAbort(() => call.cancel());
        }),
    );
  }

  /**
   * Makes a call that answers in a stream, read to its end.
   *
   * @throws AuthzError RESOURCE_EXHAUSTED where there are more than `limit` messages
   */
  async collect<Response>(
    signal: AbortSignal | undefined,
    limit: number,
    start: (options: { deadline: Date }) => MessageStream<Response>,
  ): Promise<Response[]> {
    const messages = await this.take(signal, limit + 1, start);
    if (messages.length <= limit) return messages;
    throw new AuthzError("RESOURCE_EXHAUSTED", `there are more than ${limit} results`);
  }

  /** Makes a call that answers in a stream, for the first so many messages. */
  take<Response>(
    signal: AbortSignal | undefined,
    count: number,
    start: (options: { deadline: Date }) => MessageStream<Response>,
  ): Promise<Response[]> {
    return this.#retry("read", signal, async ({ deadline, onAbort }) => {
      const stream = start({ deadline });
      onAbort(() => stream.cancel());
      const messages: Response[] = [];
      for await (const message of stream) {
        messages.push(message);
        if (messages.length === count) break;
      }
      stream.cancel();
      return messages;
    });
  }

  /** Reads a stream without an end, until the caller or the engine stops it; not tried again. */
  async *follow<Response>(
    signal: AbortSignal | undefined,
    start: () => MessageStream<Response>,
  ): AsyncGenerator<Response> {
    const stopped = this.#signals(signal);
    stopped.throwIfAborted();
    const stream = start();
    const cancel = () => stream.cancel();
    stopped.addEventListener("abort", cancel, { once: true });
    try {
      yield* stream;
    } catch (error) {
      throw this.#mapError(error, signal);
    } finally {
      stopped.removeEventListener("abort", cancel);
      stream.cancel();
    }
  }

  close(): void {
    this.#closing.abort();
    this.client.close();
  }

  async #retry<Response>(
    kind: CallKind,
    signal: AbortSignal | undefined,
    attempt: (context: CallContext) => Promise<Response>,
  ): Promise<Response> {
    const deadline = new Date(Date.now() + this.#deadlineMs);
    const stopped = this.#signals(signal);
    for (let attempts = 1; ; attempts++) {
      if (stopped.aborted) throw this.#stopError(signal);
      const aborts = new AbortController();
      const onAbort = (cancel: () => void) =>
        stopped.addEventListener("abort", cancel, { once: true, signal: aborts.signal });
      try {
        return await attempt({ deadline, onAbort });
      } catch (error) {
        const backoff = BACKOFF_MS * 2 ** attempts * (0.5 + Math.random() / 2);
        const late = Date.now() + backoff >= deadline.getTime();
        if (stopped.aborted || attempts === ATTEMPTS || late || !mayRetry(kind, error)) {
          throw this.#mapError(error, signal);
        }
        await sleep(backoff, undefined, { signal: stopped }).catch(() => undefined);
      } finally {
        aborts.abort();
      }
    }
  }

  #signals(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal;
    return signal === undefined ? closing : AbortSignal.any([signal, closing]);
  }

  #mapError(error: unknown, signal: AbortSignal | undefined): Error {
    if (error instanceof AuthzError) return error;
    if (signal?.aborted || this.#closing.signal.aborted) return this.#stopError(signal);
    if (isGrpcFailure(error)) return mapGrpcError(error, this.#token);
    // Not the cause itself: what a library puts into its errors is not ours to show.
    return new AuthzError("INTERNAL", "the call to SpiceDB failed in the client");
  }

  #stopError(signal: AbortSignal | undefined): AuthzError {
    return signal?.aborted
      ? abortError(signal)
      : new AuthzError("UNAVAILABLE", "the engine is closed");
  }
}

/** A stream of answers, as grpc-js gives it. */
export interface MessageStream<Response> extends AsyncIterable<Response> {
  cancel(): void;
}

const UNAVAILABLE = 14;

function mayRetry(kind: CallKind, error: unknown): boolean {
  if (!isGrpcFailure(error)) return false;
  return didNothing(error) || (kind === "read" && error.code === UNAVAILABLE);
}
