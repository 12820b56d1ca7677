import { isStreaming, streamsRequest, streamsResponse } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { responsesOfTurn } from "../wire/turn-budget.ts";
import type { AuditTrail, CallEnd, CallObserver, Stage } from "./call-stages.ts";
import { Deadlines } from "./deadlines.ts";
import { HandlerRun, invokeHandler } from "./handler-run.ts";
import { type AdmissionCheck, type Interceptor, intercept } from "./interceptor.ts";
import { Progress } from "./progress.ts";

/** The parts of the chain, in its order (docs/requirements.md, CHAIN-1). */
export interface ServerChainParts {
  readonly before: readonly Interceptor[];
  /** How long a call may take, in milliseconds: with one response, and with a stream of them. */
  readonly timeoutMs: { readonly unary: number; readonly stream: number };
  /** Context injection, request info and metadata; all are synchronous. */
  readonly contextInjection: (call: Call) => void;
  readonly requestInfo: (call: Call) => void;
  readonly metadata: (call: Call) => void;
  readonly authentication: Stage;
  readonly rateLimit: (call: Call) => void;
  readonly authorization: Stage;
  readonly audit: AuditTrail;
  readonly admission: readonly AdmissionCheck[];
  /** The interceptors around the handler of an RPC. */
  readonly after: (rpc: string) => readonly Interceptor[];
  readonly observers: readonly CallObserver[];
}

/** The single path from a call to its handler, for all transports. */
export class ServerChain {
  readonly #parts: ServerChainParts;
  readonly #steps: readonly Step[];
  readonly #deadlines: { readonly unary: Deadlines; readonly stream: Deadlines };

  constructor(parts: ServerChainParts) {
    this.#parts = parts;
    this.#steps = stepsBeforeHandler(parts);
    const { unary, stream } = parts.timeoutMs;
    this.#deadlines = { unary: new Deadlines(unary), stream: new Deadlines(stream) };
  }

  /**
   * Serves a call. A streamed response must be read to its end, or be returned:
   * only then is the call over.
   *
   * @returns the response: a message, or an async iterable of messages, as the call encodes them
   * @throws ServiceError always of this type; the complete error for the caller
   */
  async run(call: Call): Promise<unknown> {
    const { before, observers, audit } = this.#parts;
    call.auditOf = audit.auditOf;
    for (const observer of observers) observer.begin?.(call);
    const progress = new Progress(call);
    try {
      if (call.refusal !== undefined) throw call.refusal;
      const response = await (before.length === 0
        ? this.#timed(call, progress)
        : intercept(before, call, async () => this.#timed(call, progress)));
      if (streamsResponse(call.method.kind)) {
        const stream = this.#streamed(call, progress, response as AsyncIterable<unknown>);
        // Started here, so that it ends even if it is returned before its first message is read.
        await stream.next();
        return stream;
      }
      // Handlers that end in the same turn may all return a large response.
      if (responsesOfTurn.delays(call.method)) await itsTurn(call);
      // Before the end of the call, so that encoding errors and the bytes are recorded.
      const answer = call.encodeResponse(response);
      const ended = this.#end(call, progress, undefined);
      if (ended !== undefined) await ended;
      return answer;
    } catch (error) {
      const answer = toServiceError(error);
      await this.#end(call, progress, answer);
      throw answer;
    }
  }

  /** Timeout: the rest of the chain is abandoned once the time is up. */
  #timed(call: Call, progress: Progress): Promise<unknown> {
    if (!progress.isWatched) this.#watched(call, progress);
    else if (call.abortReason !== undefined) throw call.abortReason;
    const rest = this.#identified(call, progress);
    return new Promise((resolve, reject) => {
      progress.whenAborted(reject);
      rest.then(resolve, reject);
    });
  }

  /** Begins the time of a call. */
  #watched(call: Call, progress: Progress): void {
    const kind = isStreaming(call.method.kind) ? "stream" : "unary";
    const own = this.#parts.timeoutMs[kind];
    const timeout = Math.min(own, call.clientTimeoutMs ?? own);
    call.deadline = Date.now() + timeout;
    if (timeout <= 0) throw new ServiceError("DEADLINE_EXCEEDED");
    progress.watch(this.#deadlines[kind], timeout === own ? undefined : timeout);
  }

  /**
   * From context injection to the rate limit; only authentication may be asynchronous, and seldom
   * is.
   */
  #identified(call: Call, progress: Progress): Promise<unknown> {
    const { contextInjection, requestInfo, metadata, authentication, rateLimit } = this.#parts;
    contextInjection(call);
    requestInfo(call);
    metadata(call);
    const identified = authentication(call);
    if (identified !== undefined) {
      return identified.then(() => {
        rateLimit(call);
        return this.#authorized(call, progress);
      });
    }
    rateLimit(call);
    return this.#authorized(call, progress);
  }

  /**
   * Authorization and audit, admission, custom after, handler. Of most calls no step waits, and a
   * promise for them would cost as much as one of them.
   *
   * @param first the first step that is still to do
   */
  #authorized(call: Call, progress: Progress, first = 0): Promise<unknown> {
    for (let index = first; index < this.#steps.length; index++) {
      const step = this.#steps[index] as Step;
      const waits = step(call, progress);
      if (waits !== undefined) {
        // What a service adds may return another thenable.
        return Promise.resolve(waits).then(() => this.#authorized(call, progress, index + 1));
      }
    }
    const after = this.#parts.after(call.rpc);
    return after.length === 0
      ? this.#handledLater(call, progress)
      : intercept(after, call, () => this.#handledLater(call, progress));
  }

  /** The handler, as interceptors have it: always a promise. An async function would wait three times for one. */
  #handledLater(call: Call, progress: Progress): Promise<unknown> {
    try {
      const handled = this.#handled(call, progress);
      return handled instanceof Promise ? handled : Promise.resolve(handled);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #handled(call: Call, progress: Progress): Promise<unknown> | AsyncIterable<unknown> {
    // The caller may have cancelled in the meantime: then the handler does not run.
    if (call.abortReason !== undefined) throw call.abortReason;
    // Messages that the handler has read are consumed: it would mistake the rest for the whole stream.
    if (progress.isHandled && streamsRequest(call.method.kind)) {
      throw new Error(
        `an interceptor called next again for ${call.rpc}, whose request stream can be read only once: call next once`,
      );
    }
    progress.isHandled = true;
    const { handlerRun } = progress;
    return handlerRun === undefined ? invokeHandler(call) : handlerRun.start(call);
  }

  async *#streamed(
    call: Call,
    progress: Progress,
    responses: AsyncIterable<unknown>,
  ): AsyncGenerator<unknown> {
    // Leaving a stream early cancels it, except for a HEAD, which is complete with the first
    // message.
    const left = call.httpMethod === "HEAD" ? undefined : new ServiceError("CANCELLED");
    let outcome = left;
    let isOver = false;
    let iterator: AsyncIterator<unknown> | undefined;
    // Not a race with one promise that lives as long as the stream: each step would leak memory.
    let stop: (reason: ServiceError) => void = () => undefined;
    call.whenAborted((reason) => stop(reason));
    try {
      yield undefined;
      // Inside, since an interceptor may have returned something that is not a stream.
      const opened = responses[Symbol.asyncIterator]();
      iterator = opened;
      for (;;) {
        const step = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
          stop = reject;
          if (call.abortReason !== undefined) reject(call.abortReason);
          else opened.next().then(resolve, reject);
        });
        isOver = step.done === true;
        if (isOver) break;
        if (responsesOfTurn.delays(call.method)) await itsTurn(call);
        yield call.encodeResponse(step.value);
      }
      outcome = undefined;
    } catch (error) {
      outcome = toServiceError(error);
      throw outcome;
    } finally {
      // A caller that leaves a stream has cancelled, and the handler is notified.
      if (outcome === left && left !== undefined) call.abort(left);
      // A stuck handler is not awaited.
      if (!isOver) leave(iterator, responses);
      await this.#end(call, progress, call.abortReason ?? outcome);
    }
  }

  #end(call: Call, progress: Progress, error: ServiceError | undefined): void | Promise<void> {
    progress.end();
    const { handlerRun } = progress;
    const completed = handlerRun === undefined ? undefined : this.#audited(call, handlerRun, error);
    if (completed !== undefined) return completed.then(() => this.#notify(call, error));
    this.#notify(call, error);
  }

  /** Completes the event with the outcome of the handler, now or once the handler has ended. */
  #audited(
    call: Call,
    handlerRun: HandlerRun,
    error: ServiceError | undefined,
  ): void | Promise<void> {
    const { audit } = this.#parts;
    const answer: CallEnd = { error: error ?? call.answeredError };
    const complete = () => {
      const { error: failure, isCutOff } = handlerRun.end ?? answer;
      return audit.complete(call, failure, answer, isCutOff);
    };
    if (handlerRun.over(complete)) return complete();
    audit.outlast(call, answer);
    return undefined;
  }

  #notify(call: Call, error: ServiceError | undefined): void {
    call.endedAt = performance.now();
    const seen = error ?? call.answeredError;
    for (const observer of this.#parts.observers) observer.end(call, seen);
  }
}

/** A step between the identification of the caller and the handler; it returns a promise if it must wait. */
type Step = (call: Call, progress: Progress) => void | Promise<void>;

function stepsBeforeHandler({ authorization, audit, admission }: ServerChainParts): Step[] {
  const takeTurn: Step = (call) =>
    responsesOfTurn.delays(call.method) ? itsTurn(call) : undefined;
  return [
    readRequest,
    // One of the calls that arrived with it has a large response: this one waits before its own work.
    takeTurn,
    authorization,
    (call) => (call.method.policy.audit === undefined ? undefined : audit.begin(call)),
    ...admission.map(
      (check): Step =>
        (call) =>
          check(call),
    ),
    // What the handler returns may be as large as the response.
    takeTurn,
  ];
}

function readRequest(call: Call, progress: Progress): void | Promise<void> {
  // One for the call, even if an interceptor calls `next` several times: effects of earlier runs
  // remain.
  if (call.method.policy.audit !== undefined) progress.handlerRun ??= new HandlerRun();
  const request = progress.request();
  if (!(request instanceof Promise)) {
    call.request = request;
    return undefined;
  }
  return request.then((read: unknown) => {
    call.request = read;
  });
}

/** Waits until the call may take memory for its response. @throws ServiceError once it is aborted */
async function itsTurn(call: Call): Promise<void> {
  // Another one may have spent the turn before this one continues.
  do await responsesOfTurn.next(call.peer, call.signal);
  while (responsesOfTurn.delays(call.method));
}

/** Notifies a stream that nobody reads it any more, also one that nobody began to read; its answer is ignored. */
function leave(
  iterator: AsyncIterator<unknown> | undefined,
  responses: AsyncIterable<unknown>,
): void {
  const left = async () => (iterator ?? responses[Symbol.asyncIterator]()).return?.();
  left().catch(() => undefined);
}
