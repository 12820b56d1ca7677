import { setTimeout as sleep } from "node:timers/promises";
import type { v1 } from "@authzed/authzed-node";
import { abortError } from "../../engine/abort-error.ts";
import type { AskedServer } from "../../engine/asked-server.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { CallOptions } from "../../engine/requests.ts";
import { RunningCalls, type StoppableCall } from "../../engine/running-calls.ts";
import {
  type ConnectionOptions,
  callClient,
  checkConnectionOptions,
  DEADLINE_MS,
  LEASE_MS,
  serverOf,
  watchClient,
} from "./channel.ts";
import { didNothing, isGrpcFailure, mapGrpcError } from "./map-error.ts";

/** The context of a call: its deadline, and how it is stopped. */
export interface AttemptContext {
  readonly deadline: Date;
  /** Stops the call when the caller has cancelled. */
  readonly onAbort: (cancel: () => void) => void;
}

type Callback<Response> = (error: Error | null, response?: Response) => void;
/** Whether a call may be retried: a read always, a write only if it certainly had no effect. */
export type CallKind = "read" | "write";

const ATTEMPTS = 4;
const BACKOFF_MS = 50;
/** The calls to one SpiceDB: with deadlines, bounded retries and our errors. */
export class Connection {
  readonly client: v1.ZedClientInterface;
  /** Whom it calls, for messages. */
  readonly server: AskedServer;
  readonly #options: ConnectionOptions;
  readonly #deadlineMs: number;
  readonly #running = new RunningCalls();

  /** @throws AuthzError INVALID_ARGUMENT */
  constructor(options: ConnectionOptions) {
    checkConnectionOptions(options);
    this.client = callClient(options);
    this.server = serverOf(options);
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  }

  /**
   * Runs one call of the engine, which may ask SpiceDB many times. All of it ends with the
   * deadline, with the caller and with the engine, whichever is first.
   */
  run<Result>(
    options: CallOptions = {},
    work: (options: StoppableCall) => Promise<Result>,
  ): Promise<Result> {
    return this.#running.run(options, this.#deadlineMs, work);
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
   * Makes a call with a response stream, and reads it to its end.
   *
   * @throws AuthzError RESOURCE_EXHAUSTED if there are more than `limit` messages
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

  /** Makes a call with a response stream, and reads only its first messages. */
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

  /**
   * Reads a stream of a watch, for as long as one lives: it ends without an error when its time is
   * over. It is not retried.
   *
   * @throws AuthzError CANCELLED or DEADLINE_EXCEEDED if the caller stops it, UNAVAILABLE if
   * the connection is lost
   */
  async *follow<Response>(
    caller: AbortSignal | undefined,
    start: (client: v1.ZedClientInterface, options: { deadline: Date }) => MessageStream<Response>,
  ): AsyncGenerator<Response> {
    const { stop, release } = this.#running.begin(caller);
    const { signal } = stop;
    const client = watchClient(this.#options);
    const stream = start(client, { deadline: new Date(Date.now() + LEASE_MS * 2) });
    signal.addEventListener("abort", () => stream.cancel(), { once: true });
    let ended = false;
    const timer = setTimeout(() => {
      ended = true;
      stream.cancel();
    }, LEASE_MS);
    try {
      yield* stream;
    } catch (error) {
      ended ||= isGrpcFailure(error) && error.code === DEADLINE_EXCEEDED;
      if (!ended || signal.aborted) throw this.#mapError(error, signal);
    } finally {
      clearTimeout(timer);
      release();
      stream.cancel();
      client.close();
    }
  }

  close(): void {
    this.#running.close();
    this.client.close();
  }

  async #retry<Response>(
    kind: CallKind,
    signal: AbortSignal | undefined,
    attempt: (context: AttemptContext) => Promise<Response>,
  ): Promise<Response> {
    const deadline = new Date(Date.now() + this.#deadlineMs);
    let failure: Error | undefined;
    for (let attempts = 1; ; attempts++) {
      if (signal?.aborted) throw stoppedBy(signal, failure);
      const done = new AbortController();
      const onAbort = (cancel: () => void) =>
        signal?.addEventListener("abort", cancel, { once: true, signal: done.signal });
      try {
        return await attempt({ deadline, onAbort });
      } catch (error) {
        const backoff = BACKOFF_MS * 2 ** attempts * (0.5 + Math.random() / 2);
        const late = Date.now() + backoff >= deadline.getTime();
        if (signal?.aborted) throw stoppedBy(signal, failure);
        const mapped = this.#mapError(error, signal);
        if (attempts === ATTEMPTS || late || !mayRetry(kind, error)) throw mapped;
        // An attempt to write that is cut off may have done more than the one before.
        if (kind === "read") failure = mapped;
        const options = signal === undefined ? {} : { signal };
        await sleep(backoff, undefined, options).catch(() => undefined);
      } finally {
        done.abort();
      }
    }
  }

  #mapError(error: unknown, signal: AbortSignal | undefined): Error {
    if (error instanceof AuthzError) return error;
    if (signal?.aborted) return abortError(signal);
    if (isGrpcFailure(error)) {
      return mapGrpcError(error, { server: this.server, token: this.#options.token });
    }
    // Not the cause itself: errors of a library may contain what must not be shown.
    return new AuthzError("INTERNAL", "the call to SpiceDB failed in the client");
  }
}

/**
 * The error of a call that was stopped. One that had no more time to try again says why it had to: that is
 * more than that it was late.
 */
function stoppedBy(signal: AbortSignal, failure: Error | undefined): Error {
  const stopped = abortError(signal);
  return stopped.code === "DEADLINE_EXCEEDED" ? (failure ?? stopped) : stopped;
}

/** A stream of answers, as grpc-js gives it. */
export interface MessageStream<Response> extends AsyncIterable<Response> {
  cancel(): void;
}

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

function mayRetry(kind: CallKind, error: unknown): boolean {
  if (!isGrpcFailure(error)) return false;
  return didNothing(error) || (kind === "read" && error.code === UNAVAILABLE);
}
