import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "../../call/call.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError, toldError } from "../../error/service-error.ts";
import { MessageAccount } from "../../wire/message-budget.ts";
import type { ComingMessages } from "../../wire/message-reader.ts";
import { COUNTED_FROM_BYTES } from "../../wire/unread-responses.ts";
import type { EncodedResponse } from "../transcoding/response-encoder.ts";
import { addVarying, callHeaders, discardHeaders, errorHeaders } from "./call-response-headers.ts";
import type { Connection, OnConnection } from "./connections.ts";
import { errorBody } from "./error-body.ts";
import { asksToClose, hasRestToRead } from "./read-body.ts";
import type { ServerState } from "./server-state.ts";
import {
  boundSendingOnceEnded,
  cutOffConnection,
  guardSending,
  isTaken,
  linger,
} from "./slow-clients.ts";

const NONE: readonly string[] = Object.freeze([]);

/** One request and its response, from the first byte to the last. */
export class Exchange implements OnConnection {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: CallHeaders;
  readonly requestId: string;
  readonly connection: Connection;
  /** Its call; undefined if it never reaches the chain. */
  call: Call | undefined;
  /** Whether the client has disconnected. */
  isLost = false;
  /** Called when it is, for exchanges that are not calls of a route. */
  onLost: (() => void) | undefined;
  messages: ComingMessages | undefined;
  /** The id of the request in its response, if a raw handler sets another one than `requestId`. */
  shownRequestId: string | undefined;
  /** The names of further response headers that pages of allowed origins may read. */
  exposed: readonly string[] = NONE;

  readonly #state: ServerState;
  #account: MessageAccount | undefined;
  #isOver = false;
  /** Whether later requests on its connection are not served. */
  readonly #isLast: boolean;

  constructor(
    state: ServerState,
    connection: Connection,
    incoming: IncomingMessage,
    response: ServerResponse,
    headers: CallHeaders,
    requestId: string,
  ) {
    this.#state = state;
    this.incoming = incoming;
    this.response = response;
    this.headers = headers;
    this.requestId = requestId;
    this.connection = connection;
    state.connections.enter(connection, this);
    // The client is asked to send the rest on another connection.
    this.#isLast =
      !connection.isMultiplexed &&
      (state.isDraining || connection.active.length >= state.limits.maxPipelined);
    if (this.#isLast) connection.isClosing = true;
  }

  get isReceiving(): boolean {
    return !this.incoming.complete;
  }

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  get isCall(): boolean {
    return this.call !== undefined;
  }

  lost(reason = new ServiceError("CANCELLED")): void {
    if (this.isLost) return;
    this.isLost = true;
    this.#end();
    this.call?.abort(reason);
    this.onLost?.();
  }

  /** The request's share of the memory for messages, until it is over. */
  get account(): MessageAccount {
    if (this.#account === undefined) {
      this.#account = new MessageAccount(this.connection.budget);
      if (this.#isOver) this.#account.close();
    }
    return this.#account;
  }

  /** Ends the call because others need the memory of its request. */
  readonly giveWay = (reason: ServiceError): void => this.call?.abort(reason);

  /** Sends a complete response. */
  send(status: number, body: string | Uint8Array, headers: string[]): void {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    const isBodiless = status === 204 || status === 304;
    if (length > 0 || !isBodiless) headers.push("Content-Length", String(length));
    if (this.call !== undefined) {
      this.call.responseBytes = length;
      this.call.responseStatus = status;
    }
    this.#finish(status, headers, body, length);
  }

  /** Sends a response of the handler. */
  sendEncoded({ contentType, body }: EncodedResponse): void {
    this.send(200, body, callHeaders(this.call, contentType));
  }

  /**
   * Sends an error to the caller; does nothing if the response has begun, which can then only be
   * cut off.
   */
  fail(error: ServiceError, extra: readonly string[] = []): void {
    if (this.isLost || this.response.destroyed) return this.leave();
    if (this.response.headersSent) {
      this.response.destroy();
      return this.leave();
    }
    // Raw handlers may have set some for the response that is replaced.
    discardHeaders(this.response);
    const headers = errorHeaders(error, this.call, extra);
    this.send(error.status, JSON.stringify(errorBody(error, this.requestId)), headers);
  }

  /** Sends an error to the caller before its protocol is known, by the status. */
  failInText(error: ServiceError, extra: readonly string[]): void {
    const headers = ["Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"];
    this.send(error.status, `${toldError(error).message}\n`, [...headers, ...extra]);
  }

  /** Begins a response of several parts. */
  begin(contentType: string): void {
    this.open(callHeaders(this.call, contentType));
  }

  /** The same, with these headers. */
  open(headers: string[]): void {
    // What its client sends after a body that nobody reads would be lost with the connection.
    this.#addCommon(headers, !this.connection.isMultiplexed && hasRestToRead(this.incoming));
    this.#writeHead(200, headers);
  }

  /** Ends a response of several parts. Further data from the client is not read. */
  close(last?: string | Uint8Array): void {
    const { response, incoming, connection } = this;
    const { limits } = this.#state;
    // An HTTP/2 stream ends by itself.
    const hasRest = !connection.isMultiplexed && !incoming.complete;
    // At its end Node closes the connection, unless it is kept alive.
    const endsLater = hasRest && (connection.isClosing || asksToClose(incoming));
    if (!endsLater) response.end(last);
    else if (last === undefined) response.flushHeaders();
    else response.write(last);
    if (!response.writableFinished) {
      guardSending(this, last === undefined ? 0 : Buffer.byteLength(last), limits.sendTimeoutMs);
    }
    if (hasRest) {
      linger(incoming, limits, () => {
        if (endsLater) response.end();
        else if (!incoming.complete) incoming.destroy();
      });
    }
    this.leave();
  }

  /** Breaks off a response of several parts, after what was written of it. */
  cutOff(): void {
    const { response, connection } = this;
    // A stream is reset, and its connection continues.
    if (connection.isMultiplexed) response.destroy(new Error("the response is cut off"));
    else cutOffConnection(response, this.incoming, this.#state.limits.sendTimeoutMs);
    this.leave();
  }

  /**
   * Ends the exchange once a response is sent that a raw handler writes, and perhaps has not ended
   * yet.
   */
  leaveWhenSent(): void {
    const { response } = this;
    if (response.writableFinished || response.destroyed) return this.leave();
    response.once("close", () => this.leave());
    boundSendingOnceEnded(response, this.#state.limits.sendTimeoutMs);
  }

  /** The request is over for the server. */
  leave(): void {
    this.#end();
    // A client that does not read its response does not keep it.
    this.call = undefined;
    const { connection, incoming } = this;
    if (!connection.isMultiplexed && !incoming.complete) connection.unfinished = incoming;
    this.#state.connections.leave(this.connection, this);
  }

  /** Releases its memory, including that of data still being read. */
  #end(): void {
    this.#isOver = true;
    this.#account?.close();
  }

  /** @param bytes what was written: the whole response */
  #guard(bytes: number): void {
    if (isTaken(this, bytes)) return;
    guardSending(this, bytes, this.#state.limits.sendTimeoutMs);
  }

  /** @param length that of the body, in bytes */
  #finish(status: number, headers: string[], body: string | Uint8Array, length: number): void {
    const { response, incoming } = this;
    const { limits } = this.#state;
    // A stream ends by itself.
    const hasRest = !this.connection.isMultiplexed && hasRestToRead(incoming);
    this.#addCommon(headers, hasRest);
    this.#writeHead(status, headers);
    if (hasRest) {
      response.on("error", () => undefined);
      // Without a body Node would send the headers with the end only.
      if (body.length === 0 || incoming.method === "HEAD") response.flushHeaders();
      else response.write(body);
      this.#guard(length);
      linger(incoming, limits, () => response.end());
      this.leave();
    } else if (this.connection.isMultiplexed || length >= COUNTED_FROM_BYTES) {
      // A large body counts as unread from here on. HTTP/2 buffers by itself; if the headers were
      // sent separately, a client that gives up might see half of the response.
      this.#sendBody(body, length);
    } else this.#state.turn.atEnd(() => this.#sendBody(body, length));
  }

  #sendBody(body: string | Uint8Array, length: number): void {
    try {
      this.response.end(body);
      this.#guard(length);
    } finally {
      this.leave();
    }
  }

  /** Whether its connection should end, and no later request waits for its response. */
  #endsConnection(): boolean {
    const { endsAt, newest } = this.connection;
    if (newest !== this) return false;
    if (this.#state.isDraining) return true;
    return endsAt !== Number.POSITIVE_INFINITY && performance.now() >= endsAt;
  }

  /** @throws Error if Node does not send them; none of them remain then */
  #writeHead(status: number, headers: string[]): void {
    try {
      this.response.writeHead(status, headers);
    } catch (error) {
      discardHeaders(this.response);
      throw error;
    }
  }

  #addCommon(headers: string[], hasRest = false): void {
    const requestId = this.shownRequestId ?? this.requestId;
    headers.push("X-Request-ID", requestId, "X-Content-Type-Options", "nosniff");
    const cors = this.#state.cors.responseHeaders(this.headers, this.exposed);
    if (cors.length > 0) addVarying(headers, cors);
    if (this.connection.isMultiplexed) return;
    if (hasRest || this.#isLast || this.#endsConnection()) {
      headers.push("Connection", "close");
      this.connection.isClosing = true;
    }
  }
}
