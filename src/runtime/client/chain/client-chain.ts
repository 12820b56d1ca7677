import type { DescMethod } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import type {
  ClientCall,
  ClientCallOptions,
  ClientInterceptor,
  ClientOptions,
  ClientRateLimit,
  ClientTransport,
} from "../call/client-call.ts";
import type { ClientCaller } from "../call/typed-client.ts";
import { circuitBreaker } from "./circuit-breaker.ts";
import { clientTargetOf, createClientTracing } from "./client-tracing.ts";
import { metadata, requestInfo } from "./outgoing-headers.ts";
import { retry } from "./retry.ts";
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
