import type { BoundMethod } from "../binding/bound-method.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";
import { type CallAudit, type CallContext, NO_AUDIT, type Principal } from "./call-context.ts";
import type { CallHeaders } from "./call-headers.ts";
import type { CredentialKind } from "./credential-kinds.ts";
import { ResponseFields, type ResponseMetadata } from "./response-fields.ts";
import type { Transport } from "./transports.ts";

/** The data of a call at its begin, from its adapter. */
export interface CallStart {
  readonly method: BoundMethod;
  readonly transport: Transport;
  /** Chosen by the adapter, with `requestIdOf`. */
  readonly requestId: string;
  readonly headers: CallHeaders;
  readonly peer: Peer;
  /** The path or full method name as it was sent, for the log only. */
  readonly target: string;
  /** Over HTTP, the template of the path that the call matched, or the declared path of a raw handler. */
  readonly route?: string;
  /** The HTTP method as it was sent; `POST` over gRPC and gRPC-Web. */
  readonly httpMethod: string;
  /** How long the client waits, in milliseconds; absent if it sends no timeout. */
  readonly clientTimeoutMs?: number;
  /**
   * The error that it is refused with first of all if its headers are invalid; it is logged and
   * counted like any call.
   */
  readonly refusal?: ServiceError;
  /** Reads and decodes the request, once: a message, or an async iterable of messages. */
  readonly readRequest: () => unknown;
  /**
   * Encodes a response message, so that an encoding failure is an error of the call; absent if
   * messages are encoded later.
   */
  readonly encodeResponse?: EncodeResponse | undefined;
}

type EncodeResponse = (response: unknown, call: Call) => unknown;

/**
 * One call on its way through the chain. Stages fill it in, each its own part;
 * handlers see it as `CallContext`.
 */
export class Call implements CallContext {
  readonly method: BoundMethod;
  readonly transport: Transport;
  /** Without the identity headers of an untrusted peer, after the metadata stage. */
  headers: CallHeaders;
  readonly peer: Peer;
  readonly target: string;
  readonly route: string | undefined;
  readonly httpMethod: string;
  readonly clientTimeoutMs: number | undefined;
  readonly refusal: ServiceError | undefined;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  /** When it was over, likewise; 0 before. */
  endedAt = 0;

  readonly requestId: string;
  traceId = "";
  /** The id of this call's span, 16 hexadecimal digits. */
  spanId = "";
  /** Whether the trace is recorded somewhere. */
  isSampled = false;
  clientAddress = "";
  /** Whether identity headers of this peer are accepted (docs/requirements.md, HDR-2). */
  peerIsTrusted = false;
  deadline = Number.POSITIVE_INFINITY;
  principal: Principal | undefined;
  credential: CredentialKind = "none";
  /** Whether it has a Bearer token that was not accepted. */
  refusedBearer = false;
  /** The decoded request, or the stream of requests; set before authorization. */
  request: unknown;
  /** The object that authorization was decided on, for audit and log. */
  resource: string | undefined;

  /** The outcome of authorization; undefined before it, and if there was no check. */
  decision: "allowed" | "denied" | undefined;
  /** The state of the relationships that it was decided on, if an engine decided. */
  revision: string | undefined;
  /** Creates the value of `audit`; set by the chain. */
  auditOf: ((call: Call) => CallAudit) | undefined;
  /** How many bytes were sent, for the log; set by the adapter. */
  responseBytes = 0;
  /** Calls a function once its response is sent; undefined if nobody writes to it after the call. */
  whenSent: ((sent: () => void) => void) | undefined;
  /** The HTTP status of the response if the handler chose it, as raw handlers do. */
  responseStatus = 200;
  /** The HTTP status of the complete response that was sent: that of an error may be another one than its own. */
  sentStatus: number | undefined;
  /** Whether the adapter still has to answer when the call ends, so that its status is not final; it calls `onAnswered` then. */
  isUnanswered = false;
  /** What waits for the final status: the adapter calls it once it has answered, or will not. */
  onAnswered: (() => void) | undefined;
  /** The error that a raw handler has answered with itself, by its status; for logs, metrics and traces. */
  answeredError: ServiceError | undefined;
  /** Why, as the handler has named it; also of a failure that its protocol reports with another status. */
  namedFailure: ServiceError | undefined;
  /** Its index among the calls under way; negative if it is not one of them. */
  place = -1;

  readonly #readRequest: () => unknown;
  readonly #encodeResponse: EncodeResponse | undefined;
  #audit: CallAudit | undefined;
  #responseHeaders: ResponseFields | undefined;
  #responseBegun = false;
  #responseTrailers: ResponseFields | undefined;
  #responseEnded = false;
  #abort: AbortController | undefined;
  #abortReason: ServiceError | undefined;
  #onAbort: ((reason: ServiceError) => void) | undefined;

  constructor(start: CallStart) {
    this.method = start.method;
    this.transport = start.transport;
    this.headers = start.headers;
    this.peer = start.peer;
    this.target = start.target;
    this.route = start.route;
    this.httpMethod = start.httpMethod;
    this.clientTimeoutMs = start.clientTimeoutMs;
    this.refusal = start.refusal;
    this.requestId = start.requestId;
    this.#readRequest = start.readRequest;
    this.#encodeResponse = start.encodeResponse;
  }

  /** How long it took, or has taken so far. */
  get durationMs(): number {
    return (this.endedAt || performance.now()) - this.startedAt;
  }

  get rpc(): string {
    return this.method.rpc;
  }

  /** Created on first use: most handlers never use it. */
  get audit(): CallAudit {
    return (this.#audit ??= this.auditOf?.(this) ?? NO_AUDIT);
  }

  /** Likewise. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** Why the call was ended early: CANCELLED, DEADLINE_EXCEEDED, or UNAVAILABLE as the server ends. */
  get abortReason(): ServiceError | undefined {
    return this.#abortReason;
  }

  /** Ends the call early; only the first reason counts. */
  abort(reason: ServiceError): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
    this.#onAbort?.(reason);
  }

  /** Registers the waiter of the call: the timeout stage. */
  whenAborted(listener: (reason: ServiceError) => void): void {
    this.#onAbort = listener;
    if (this.#abortReason !== undefined) listener(this.#abortReason);
  }

  /** The call is over. Its waiter leads to the response message, which may be large. */
  ended(): void {
    this.#onAbort = undefined;
  }

  readRequest(): unknown {
    return this.#readRequest();
  }

  /** For the chain: a response message in the form that the adapter needs. */
  encodeResponse(response: unknown): unknown {
    return this.#encodeResponse === undefined ? response : this.#encodeResponse(response, this);
  }

  /** @throws TypeError for a header that cannot be sent; Error where the response was begun */
  setResponseHeader(name: string, value: string): void {
    this.#headersToSet(name).set(name, value);
  }

  /** @throws TypeError for a header that cannot be sent; Error where the response was begun */
  appendResponseHeader(name: string, value: string): void {
    this.#headersToSet(name).append(name, value);
  }

  /** @throws TypeError for a trailer that cannot be sent; Error where the response was ended */
  setResponseTrailer(name: string, value: string): void {
    this.#trailersToSet(name).set(name, value);
  }

  /** @throws TypeError for a trailer that cannot be sent; Error where the response was ended */
  appendResponseTrailer(name: string, value: string): void {
    this.#trailersToSet(name).append(name, value);
  }

  /** For the adapter: the trailers to send. After it none can be set. */
  endResponse(): ResponseMetadata | undefined {
    this.#responseEnded = true;
    return this.#responseTrailers?.values;
  }

  /** For adapters whose handler writes the response: the headers that were set until now. */
  get responseHeaders(): ResponseMetadata | undefined {
    return this.#responseHeaders?.values;
  }

  /** For the adapter: the headers to send. After it no header can be set. */
  beginResponse(): ResponseMetadata | undefined {
    this.#responseBegun = true;
    return this.#responseHeaders?.values;
  }

  #headersToSet(name: string): ResponseFields {
    if (this.#responseBegun) {
      throw new Error(`the header ${name} was set too late: the response has begun`);
    }
    return (this.#responseHeaders ??= new ResponseFields(this.transport, "header"));
  }

  #trailersToSet(name: string): ResponseFields {
    if (this.#responseEnded) {
      throw new Error(`the trailer ${name} was set too late: the response has ended`);
    }
    return (this.#responseTrailers ??= new ResponseFields(this.transport, "trailer"));
  }
}
