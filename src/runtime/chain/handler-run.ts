import { create, type DescMessage, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { streamsResponse } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import type { CallEnd } from "./call-stages.ts";

/**
 * The runs of the handler of an audited call. It may outlast the call: the caller may have cancelled, or
 * the deadline may have passed, but its writes remain.
 */
export class HandlerRun {
  /** More than one where an interceptor calls the handler again. */
  #running = 0;
  /**
   * Streams that the handler returned and that have not ended, including those that nobody has
   * begun to read.
   */
  #open = 0;
  #isOver = false;
  #end: CallEnd | undefined;
  #settled: (() => unknown) | undefined;

  /**
   * The outcome of the handler: a success if one of its runs succeeded; undefined if it did not
   * run. A stream that was cut off is not a failure: writes before its first message remain.
   */
  get end(): CallEnd | undefined {
    return this.#open > 0 ? further(this.#end, CUT_OFF) : this.#end;
  }

  /** Calls the handler, as `invokeHandler` does. */
  start(call: Call): Promise<unknown> | AsyncIterable<unknown> {
    // Its event is complete: an interceptor that continues now would have unrecorded effects.
    if (this.#isOver) throw new ServiceError("CANCELLED");
    const answer = this.#invoke(call);
    if (streamsResponse(call.method.kind)) {
      this.#open++;
      return this.#streamed(call, answer as AsyncIterable<unknown>);
    }
    this.#running++;
    (answer as Promise<unknown>).then(
      // A raw handler may have answered with an error, and an interceptor may replace it.
      () => this.#ended({ error: call.answeredError }),
      (error: unknown) => this.#ended({ error: errorOf(call, error) }),
    );
    return answer;
  }

  /**
   * The call is over, and the handler is not called any more.
   *
   * @param settled called once the handler has ended, if it still runs
   * @returns whether it has ended
   */
  over(settled: () => unknown): boolean {
    this.#isOver = true;
    if (this.#running === 0) return true;
    this.#settled = settled;
    return false;
  }

  #invoke(call: Call): Promise<unknown> | AsyncIterable<unknown> {
    try {
      return invokeHandler(call);
    } catch (error) {
      this.#end = further(this.#end, { error: errorOf(call, error) });
      throw error;
    }
  }

  async *#streamed(call: Call, messages: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    this.#running++;
    let end = CUT_OFF;
    try {
      for await (const message of messages) yield message;
      end = { error: undefined };
    } catch (error) {
      end = { error: errorOf(call, error) };
      throw error;
    } finally {
      // Also for a stream that was left, after the handler's own cleanup.
      this.#open--;
      this.#ended(end);
    }
  }

  #ended(end: CallEnd): void {
    this.#running--;
    this.#end = further(this.#end, end);
    if (this.#running > 0) return;
    const settled = this.#settled;
    this.#settled = undefined;
    settled?.();
  }
}

const CUT_OFF: CallEnd = { error: undefined, isCutOff: true };

/** Of two runs, the one that may have done more; if they are equal, the later one. */
function further(earlier: CallEnd | undefined, later: CallEnd): CallEnd {
  return earlier === undefined || effect(later) >= effect(earlier) ? later : earlier;
}

function effect({ error, isCutOff }: CallEnd): number {
  if (error !== undefined) return 0;
  return isCutOff === true ? 1 : 2;
}

/** Many libraries report an aborted signal with an error of their own. */
function errorOf(call: Call, error: unknown): ServiceError {
  const isAborted = error instanceof Error && error.name === "AbortError";
  return (isAborted ? call.abortReason : undefined) ?? toServiceError(error);
}

/**
 * Calls the handler and converts its result to the message that the RPC declares: handlers may
 * return plain objects. Errors of the handler are passed on, also synchronous ones.
 */
export function invokeHandler(call: Call): Promise<unknown> | AsyncIterable<unknown> {
  const { handler, descriptor } = call.method;
  const answer = handler(call.request, call);
  if (descriptor !== undefined && streamsResponse(call.method.kind)) {
    return messages(descriptor.output, answer as AsyncIterable<unknown>, call.rpc);
  }
  if (descriptor === undefined) return Promise.resolve(answer);
  return Promise.resolve(answer).then((one) => toMessage(descriptor.output, one, call.rpc));
}

async function* messages(
  schema: DescMessage,
  answers: AsyncIterable<unknown>,
  rpc: string,
): AsyncGenerator<unknown> {
  for await (const answer of answers) yield toMessage(schema, answer, rpc);
}

function toMessage(schema: DescMessage, answer: unknown, rpc: string): unknown {
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(`the handler of ${rpc} returned no ${schema.typeName}`);
  }
  return isMessage(answer, schema)
    ? answer
    : create(schema, answer as MessageInitShape<DescMessage>);
}
