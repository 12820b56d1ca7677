import type { DescMethod } from "@bufbuild/protobuf";
import { retry as cockatielRetry, DelegateBackoff, handleWhen } from "cockatiel";
import { isStreaming } from "../../binding/bound-method.ts";
import { ServiceError } from "../../error/service-error.ts";
import { isUnsent } from "../call/call-failure.ts";
import type {
  ClientCall,
  ClientCallOptions,
  ClientInterceptor,
  ClientOptions,
  ClientRateLimit,
  ClientTransport,
  RetryOptions,
} from "../call/client-call.ts";
import type { ClientCaller } from "../call/typed-client.ts";
import { circuitBreaker } from "./circuit-breaker.ts";
import { clientTargetOf, createClientTracing } from "./client-tracing.ts";
import { metadata, requestInfo } from "./outgoing-headers.ts";
import { timeout } from "./timeout.ts";

/** The chain of a client's calls, in the order of CLI-1 in docs/requirements.md. */
export class ClientChain implements ClientCaller {
  readonly #transport: ClientTransport;
  readonly #stages: readonly ClientInterceptor[];
  #closed = false;

  /** @param target where it calls, for traces */
  constructor(transport: ClientTransport, options: ClientOptions, target = "") {
    this.#transport = transport;
    const tracing = createClientTracing(clientTargetOf(target));
    this.#stages = [
      ...(options.before ?? []),
      requestInfo(options),
      ...(tracing === undefined ? [] : [tracing]),
      metadata(options),
      timeout(options),
      ...(options.rateLimit === undefined ? [] : [rateLimit(options.rateLimit)]),
      ...(options.circuitBreaker === false ? [] : [circuitBreaker(options.circuitBreaker ?? {})]),
      ...(options.retry === false ? [] : [retry(options.retry ?? {})]),
      ...(options.after ?? []),
    ];
  }

  async call(method: DescMethod, request: unknown, options: ClientCallOptions): Promise<unknown> {
    if (this.#closed) throw new ServiceError("UNAVAILABLE", "the client is closed");
    const call: ClientCall = {
      rpc: `${method.parent.typeName}/${method.name}`,
      transport: this.#transport.name,
      method,
      request,
      headers: new Map(),
      options,
      isIdempotent: this.#transport.isIdempotent(method),
      deadline: Number.POSITIVE_INFINITY,
      deadlineIsOwn: true,
      signal: undefined,
    };
    return this.#run(0, call);
  }

  async *stream(
    method: DescMethod,
    request: unknown,
    options: ClientCallOptions,
  ): AsyncGenerator<unknown> {
    yield* (await this.call(method, request, options)) as AsyncIterable<unknown>;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#transport.close();
  }

  #run(index: number, call: ClientCall): Promise<unknown> {
    const stage = this.#stages[index];
    if (stage === undefined) return this.#transport.send(call);
    return stage(call, () => this.#run(index + 1, call));
  }
}

/** Refuses calls, before they are sent, that come faster than this client may call. */
function rateLimit({ qps, burst = qps }: ClientRateLimit): ClientInterceptor {
  if (!(qps > 0) || !(burst >= 1)) {
    throw new RangeError("a rate limit must have a qps above 0 and a burst of at least 1");
  }
  let tokens = burst;
  let filledAt = performance.now();
  return (_call, next) => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * qps);
    filledAt = now;
    if (tokens < 1) {
      return Promise.reject(
        new ServiceError("RATE_LIMITED", "this client exceeds its own rate limit", {
          retryAfterSeconds: (1 - tokens) / qps,
        }),
      );
    }
    tokens -= 1;
    return next();
  };
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_INITIAL_DELAY_MS = 50;
const DEFAULT_MAX_DELAY_MS = 2000;

/**
 * Retries a call if that is safe: an idempotent one that the target could not accept, and any one
 * that was not sent. Never a stream, and never beyond the deadline.
 */
export function retry(options: RetryOptions): ClientInterceptor {
  const retries = (options.maxAttempts ?? DEFAULT_ATTEMPTS) - 1;
  return (call, next) => {
    if (retries < 1 || isStreaming(call.method.methodKind)) return next();
    let failures = 0;
    let delay = 0;
    const policy = cockatielRetry(
      handleWhen((error: unknown) => {
        delay = delayBefore(error, failures++, options);
        return isSafe(error, call) && Date.now() + delay < call.deadline;
      }),
      { maxAttempts: retries, backoff: new DelegateBackoff(() => delay) },
    );
    const attempt = (): Promise<unknown> =>
      // During the delay the caller may have given up.
      call.signal?.aborted === true ? Promise.reject(call.signal.reason) : next();
    return policy.execute(attempt, call.signal);
  };
}

function isSafe(error: unknown, call: ClientCall): boolean {
  if (!(error instanceof ServiceError) || error.code !== "UNAVAILABLE") return false;
  return call.isIdempotent || isUnsent(error);
}

/**
 * Random, so that clients that failed together do not retry together; not sooner than the target
 * asks.
 */
function delayBefore(error: unknown, failures: number, options: RetryOptions): number {
  const initial = options.initialDelayMs ?? DEFAULT_INITIAL_DELAY_MS;
  const most = Math.min(options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS, initial * 2 ** failures);
  const asked = error instanceof ServiceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(asked, Math.random() * most);
}
