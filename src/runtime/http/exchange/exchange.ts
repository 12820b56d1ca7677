import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "../../call/call.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError, toldError } from "../../error/service-error.ts";
import { MessageAccount } from "../../wire/message-budget.ts";
import type { ComingMessages } from "../../wire/message-reader.ts";
import type { EncodedResponse } from "../transcoding/response-encoder.ts";
import { addVarying, callHeaders, discardHeaders, errorHeaders } from "./call-response-headers.ts";
import type { Connection, OnConnection } from "./connections.ts";
import { errorBody } from "./error-body.ts";
import { asksToClose, hasRestToRead } from "./read-body.ts";
import type { ServerState } from "./server-state.ts";
import { boundSending, boundSendingOnceEnded, cutOffConnection, linger } from "./slow-clients.ts";

const NONE: readonly string[] = Object.freeze([]);

/** One request and its response, from the first byte to the last. */
export class Exchange implements OnConnection {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: CallHeaders;
  readonly requestId: string;
  readonly connection: Connection;
  /** The call that it has become; undefined for what never reaches the chain. */
  call: Call | undefined;
  /** Whether the client is gone. */
  isLost = false;
  /** Hears when it is, where it is not a call of a route. */
  onLost: (() => void) | undefined;
  messages: ComingMessages | undefined;
  /** The names of further response headers that pages of allowed origins may read. */
  exposed: readonly string[] = NONE;

  readonly #state: ServerState;
  #account: MessageAccount | undefined;
  #isOver = false;
  /** Whether what comes after it on its connection is not served. */
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
      (state.isDraining || connection.active.size >= state.limits.maxPipelined);
    if (this.#isLast) connection.isClosing = true;
  }

  get isReceiving(): boolean {
    return !this.incoming.complete;
  }

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  lost(): void {
    this.isLost = true;
    this.#end();
    this.call?.abort(new ServiceError("CANCELLED"));
    this.onLost?.();
  }

  /** What the request holds of the memory that there is for messages, until it is over. */
  get account(): MessageAccount {
    if (this.#account === undefined) {
      this.#account = new MessageAccount(this.connection.budget);
      if (this.#isOver) this.#account.close();
    }
    return this.#account;
  }

  /**
   * Counts a part of the response that the client may not take soon: it is cut off where others need the memory.
   *
   * @returns ends that: the client has taken it
   */
  unread(bytes: number): () => void {
    return this.connection.unread.add(bytes, () => this.response.destroy());
  }

  /** Ends the call, since others need the memory of its request. */
  readonly giveWay = (reason: ServiceError): void => this.call?.abort(reason);

  /** Sends a response as a whole. */
  send(status: number, body: string | Uint8Array, headers: string[]): void {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    const isBodiless = status === 204 || status === 304;
    if (length > 0 || !isBodiless) headers.push("Content-Length", String(length));
    if (this.call !== undefined) {
      this.call.responseBytes = length;
      this.call.responseStatus = status;
    }
    this.#finish(status, headers, body);
  }

  /** Sends a response of the handler. */
  sendEncoded({ contentType, body }: EncodedResponse): void {
    this.send(200, body, callHeaders(this.call, contentType));
  }

  /** Tells the caller of an error; nothing where the response was begun, as then it only can be cut off. */
  fail(error: ServiceError, extra: readonly string[] = []): void {
    if (this.isLost || this.response.destroyed) return this.leave();
    if (this.response.headersSent) {
      this.response.destroy();
      return this.leave();
    }
    // Raw handlers may have set some for the response that is not to be.
    discardHeaders(this.response);
    const headers = errorHeaders(error, this.call, extra);
    this.send(error.status, JSON.stringify(errorBody(error, this.requestId)), headers);
  }

  /** Tells the caller of an error that comes before its protocol is known: the status says it. */
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
    this.#addCommon(headers);
    this.#writeHead(200, headers);
  }

  /** Ends a response of several parts. What the client still sends nobody reads. */
  close(last?: string | Uint8Array): void {
    const { response, incoming, connection } = this;
    const { limits } = this.#state;
    // A stream of HTTP/2 is ended by itself.
    const hasRest = !connection.isMultiplexed && !incoming.complete;
    // With its end Node closes the connection, if that is not kept.
    const endsLater = hasRest && (connection.isClosing || asksToClose(incoming));
    if (!endsLater) response.end(last);
    else if (last === undefined) response.flushHeaders();
    else response.write(last);
    if (!response.writableFinished) this.#guard(last?.length ?? 0);
    if (hasRest) {
      linger(incoming, limits, () => {
        if (endsLater) response.end();
        else if (!incoming.complete) incoming.destroy();
      });
    }
    this.leave();
  }

  /** Ends a response of several parts without its end, after what was written of it. */
  cutOff(): void {
    const { response, connection } = this;
    // A stream is reset, and its connection goes on.
    if (connection.isMultiplexed) response.destroy(new Error("the response is cut off"));
    else cutOffConnection(response, this.incoming, this.#state.limits.sendTimeoutMs);
    this.leave();
  }

  /** Leaves once a response is sent that somebody else writes, and perhaps has not ended yet. */
  leaveWhenSent(): void {
    const { response } = this;
    if (response.writableFinished || response.destroyed) return this.leave();
    response.once("close", () => this.leave());
    boundSendingOnceEnded(response, this.#state.limits.sendTimeoutMs);
  }

  /** The request is over for the server. */
  leave(): void {
    this.#end();
    const { connection, incoming } = this;
    if (!connection.isMultiplexed && !incoming.complete) connection.unfinished = incoming;
    this.#state.connections.leave(this.connection, this);
  }

  /** Holds nothing any more, also of what is still read for it. */
  #end(): void {
    this.#isOver = true;
    this.#account?.close();
  }

  /** Cuts off a client that takes nothing of the last part, once its time is up or others need the memory. */
  #guard(bytes: number): void {
    const { response } = this;
    const taken = this.unread(bytes);
    boundSending(response, this.#state.limits.sendTimeoutMs);
    response.once("close", taken);
  }

  #finish(status: number, headers: string[], body: string | Uint8Array): void {
    const { response, incoming } = this;
    const { limits } = this.#state;
    // A stream is ended by itself.
    const hasRest = !this.connection.isMultiplexed && hasRestToRead(incoming);
    this.#addCommon(headers, hasRest);
    this.#writeHead(status, headers);
    if (hasRest) {
      response.on("error", () => undefined);
      // Without a body Node would send the headers with the end only.
      if (body.length === 0 || incoming.method === "HEAD") response.flushHeaders();
      else response.write(body);
      linger(incoming, limits, () => {
        response.end();
        if (!response.writableFinished) this.#guard(body.length);
      });
      this.leave();
    } else if (this.connection.isMultiplexed) {
      // HTTP/2 gathers what it sends by itself; apart from its headers, a client that gives up may see half of it.
      this.#sendBody(body);
    } else this.#state.turn.atEnd(() => this.#sendBody(body));
  }

  #sendBody(body: string | Uint8Array): void {
    const { response, connection } = this;
    try {
      response.end(body);
      const { socket } = response;
      // Most responses are with the kernel by now. One that is not has a reader that is slow, or gone.
      const isTaken = connection.isMultiplexed
        ? response.writableFinished
        : socket === null || socket.writableLength === 0;
      if (!isTaken) this.#guard(body.length);
    } finally {
      this.leave();
    }
  }

  /** Whether its connection is to end, and no request that came after it waits for its response. */
  #endsConnection(): boolean {
    const { endsAt, newest } = this.connection;
    if (newest !== this) return false;
    if (this.#state.isDraining) return true;
    return endsAt !== Number.POSITIVE_INFINITY && performance.now() >= endsAt;
  }

  /** @throws Error where Node does not send them; nothing is left of them then */
  #writeHead(status: number, headers: string[]): void {
    try {
      this.response.writeHead(status, headers);
    } catch (error) {
      discardHeaders(this.response);
      throw error;
    }
  }

  #addCommon(headers: string[], hasRest = false): void {
    headers.push("X-Request-ID", this.requestId, "X-Content-Type-Options", "nosniff");
    const cors = this.#state.cors.responseHeaders(this.headers, this.exposed);
    if (cors.length > 0) addVarying(headers, cors);
    if (this.connection.isMultiplexed) return;
    if (hasRest || this.#isLast || this.#endsConnection()) {
      headers.push("Connection", "close");
      this.connection.isClosing = true;
    }
  }
}
