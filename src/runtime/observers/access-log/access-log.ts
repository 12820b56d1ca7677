import { isStreaming } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import type { CallObserver, UnroutedRequest } from "../../chain/call-stages.ts";
import type { ServiceError } from "../../error/service-error.ts";
import type { LineWriter } from "../../logging/create-logger.ts";
import { briefError } from "../../logging/redaction/brief-error.ts";
import { redact } from "../../logging/redaction/redaction.ts";
import { afterTurns } from "../../port/event-loop-turn.ts";
import { callLine, pathOf, requestLine } from "./access-line.ts";

/** What the access log logs; by the names of the configuration (`access_log`). */
export interface AccessLogOptions {
  /** Where false, only calls that failed inside are logged. */
  readonly enabled: boolean;
  readonly skipPaths: readonly string[];
  /** The duration from which a call is logged as slow; streams never are. */
  readonly slowThresholdMs: number;
}

/** How many turns of the event loop a response takes: over gRPC its trailers are sent in one of their own. */
const TURNS = { grpc: 2, other: 1 } as const;

/** One call that has ended and whose line is not written yet. */
interface EndedCall {
  readonly call: Call;
  readonly error: ServiceError | undefined;
  readonly durationMs: number;
}

/** Logs one line for each call, and for each request that never was one. */
export class AccessLog implements CallObserver {
  readonly #lines: LineWriter;
  readonly #options: AccessLogOptions;
  readonly #skipped: ReadonlySet<string>;
  #ended: EndedCall[] = [];
  /** The calls whose responses are still being written. */
  readonly #unsent = new Set<EndedCall>();

  constructor(lines: LineWriter, options: AccessLogOptions) {
    this.#lines = lines;
    this.#options = options;
    this.#skipped = new Set(options.skipPaths);
  }

  /**
   * The line is written after the response: by then the adapter knows its size, and the caller does
   * not wait for the log. But it is not written so late that a caller in this process would miss it.
   * That of a raw handler whose library continues to write waits for the end of the response.
   */
  end(call: Call, error: ServiceError | undefined): void {
    if (!isInternal(call, error) && (!this.#options.enabled || this.#isSkipped(call))) return;
    const ended: EndedCall = { call, error, durationMs: call.durationMs };
    if (call.whenSent === undefined) return this.#add(ended);
    this.#unsent.add(ended);
    call.whenSent(() => {
      if (this.#unsent.delete(ended)) this.#add(ended);
    });
  }

  #add(ended: EndedCall): void {
    this.#ended.push(ended);
    const { call } = ended;
    if (this.#ended.length > 1) return;
    // The adapter has its turn first: it sends the response once the promises of the call are settled.
    process.nextTick(afterTurns, call.transport === "grpc" ? TURNS.grpc : TURNS.other, () =>
      this.flush(),
    );
  }

  /** Writes the lines of all calls, also of those whose responses are not sent. */
  close(): void {
    this.#ended.push(...this.#unsent);
    this.#unsent.clear();
    this.flush();
  }

  /** Logs a request that was answered before it was a call. */
  request(request: UnroutedRequest): void {
    if (!this.#options.enabled || this.#skipped.has(pathOf(request.target))) return;
    this.#lines.line("info", requestLine(request), "request");
  }

  /** Writes the lines of calls that have ended. */
  flush(): void {
    const ended = this.#ended;
    this.#ended = [];
    const now = Date.now();
    for (const one of ended) {
      try {
        this.#write(one, now);
      } catch (error) {
        const shown = JSON.stringify(redact(error));
        this.#lines.line("error", `"error":${shown}`, "a call cannot be logged");
      }
    }
  }

  #isSkipped({ transport, target }: Call): boolean {
    return transport === "http" && this.#skipped.has(pathOf(target));
  }

  #write({ call, error, durationMs }: EndedCall, now: number): void {
    let line = callLine(call, error, durationMs);
    const isSlow = durationMs >= this.#options.slowThresholdMs && !isStreaming(call.method.kind);
    if (isSlow) line += ',"slow":true';
    // A raw handler may redirect with a failure, as protocols of logins do.
    const failure = call.namedFailure ?? error;
    if (failure !== undefined && isInternal(call, error)) {
      line += `,"error":${JSON.stringify(redact(failure.cause ?? failure))}`;
      this.#lines.line("error", line, "call", now);
      return;
    }
    const cause = call.namedFailure === undefined ? error?.cause : (failure?.cause ?? failure);
    const isDown = failure !== undefined && failure.status >= 500 && cause !== undefined;
    // When a dependency is down, each call fails.
    if (isDown) line += `,"error":${JSON.stringify(briefError(cause))}`;
    this.#lines.line(isSlow || isDown ? "warn" : "info", line, "call", now);
  }
}

function isInternal({ namedFailure }: Call, error: ServiceError | undefined): boolean {
  return error?.code === "INTERNAL" || namedFailure?.code === "INTERNAL";
}
