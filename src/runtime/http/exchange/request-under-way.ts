import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "../../call/call.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";
import { MessageAccount } from "../../wire/message-budget.ts";
import type { ComingMessages } from "../../wire/message-reader.ts";
import type { Connection, OnConnection } from "./connections.ts";
import type { ServerState } from "./server-state.ts";

const NONE: readonly string[] = Object.freeze([]);

/**
 * One request with its response, until both are over: its place on the connection, its call, and its
 * share of the memory.
 */
export class RequestUnderWay implements OnConnection {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: CallHeaders;
  readonly requestId: string;
  readonly connection: Connection;
  /** What it shares with the other requests of the server. */
  readonly state: ServerState;
  /** Its call; undefined if it never reaches the chain. */
  call: Call | undefined;
  /** Whether the client has disconnected. */
  isLost = false;
  /** Called when it is, for exchanges that are not calls of a route. */
  onLost: (() => void) | undefined;
  messages: ComingMessages | undefined;
  /** The id of the request in its response, if a raw handler sets another one than `requestId`. */
  shownRequestId: string | undefined;
  /** Whether it sends headers of a raw handler, which may have other characters than ASCII. */
  hasHandlerHeaders = false;
  /** The names of further response headers that pages of allowed origins may read. */
  exposed: readonly string[] = NONE;

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
    this.state = state;
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

  /** Whether its HTTP/1 connection should end after it. */
  get endsConnection(): boolean {
    if (this.#isLast) return true;
    const { endsAt, newest } = this.connection;
    // A later request waits for its response.
    if (newest !== this) return false;
    if (this.state.isDraining) return true;
    return endsAt !== Number.POSITIVE_INFINITY && performance.now() >= endsAt;
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

  /** The request is over for the server. */
  leave(): void {
    this.#end();
    // A client that does not read its response does not keep it.
    this.call = undefined;
    const { connection, incoming } = this;
    if (!connection.isMultiplexed && !incoming.complete) connection.unfinished = incoming;
    this.state.connections.leave(connection, this);
  }

  /** Releases its memory, including that of data still being read. */
  #end(): void {
    this.#isOver = true;
    this.#account?.close();
  }
}
