import type { CallHeaders } from "../../call/call-headers.ts";
import { REQUEST_ID_HEADER } from "../../call/call-ids.ts";
import { RESERVED_OF_WEB } from "../../call/reserved-headers.ts";
import { type ResponseMetadata, sentValue } from "../../call/response-fields.ts";
import type { Transport } from "../../call/transports.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Exchange } from "../../http/exchange/exchange.ts";
import type { Peer } from "../../peer/peer.ts";
import type { CodecName, Metadata } from "../../rpc/rpc-exchange.ts";
import type { MessageAccount } from "../../wire/message-budget.ts";
import type { MessageLimits } from "../../wire/message-codec.ts";

/** One object for all: each call ends with it, and creating an error costs more than most calls. */
const ANSWERED = new ServiceError("CANCELLED");

/** The data that all calls over HTTP share. */
export interface HttpRpcSettings {
  /** The name of the deployed service: the domain of errors. */
  readonly domain: string | undefined;
  /** Whether large responses are compressed for clients that understand it. */
  readonly compression: boolean;
  readonly limits: Pick<MessageLimits, "maxBytes">;
}

/** The common part of Connect and gRPC-Web calls: an HTTP request and response. */
export abstract class HttpRpcExchange {
  abstract readonly transport: Transport;
  readonly codec: CodecName;
  readonly path: string;
  protected readonly http: Exchange;
  protected readonly settings: HttpRpcSettings;
  protected readonly account: MessageAccount;
  #hasEnded = false;
  #onCancel: ((reason: ServiceError) => void) | undefined;

  constructor(http: Exchange, path: string, codec: CodecName, settings: HttpRpcSettings) {
    this.http = http;
    this.path = path;
    this.codec = codec;
    this.settings = settings;
    this.account = http.account;
    http.onLost = () => this.#lost();
  }

  get httpMethod(): string {
    return this.http.incoming.method as string;
  }

  get headers(): CallHeaders {
    return this.http.headers;
  }

  get peer(): Peer {
    return this.http.connection.peer;
  }

  get requestId(): string {
    return this.http.requestId;
  }

  whenCancelled(listener: (reason: ServiceError) => void): void {
    this.#onCancel = listener;
  }

  /** Whether anything can still be sent to the client. */
  protected get isOpen(): boolean {
    return !this.#hasEnded && !this.http.isLost && !this.http.response.destroyed;
  }

  /**
   * The call has a response: nothing more is read or kept for it.
   *
   * @param reason the error that was sent, if any
   */
  protected ended(reason = ANSWERED): void {
    this.#hasEnded = true;
    this.stopReading(reason);
    this.account.close();
    // A client that does not read its response must not keep the call, and the memory of its request.
    this.#onCancel = undefined;
  }

  /** The call is over, and there is nobody to notify. */
  protected left(): void {
    this.ended();
    this.http.leave();
  }

  /** Aborts the response. */
  cancel(): void {
    this.http.response.destroy();
    this.left();
  }

  /** A message of the request is refused, or none will come. */
  protected cancelled(reason: ServiceError): void {
    this.#onCancel?.(reason);
  }

  /** Stops reading the request; waiters get the reason. */
  protected abstract stopReading(reason: ServiceError): void;

  /** The headers of every response, and those of the handler. */
  protected headersOf(contentType: string, own: Metadata | undefined): string[] {
    const headers = ["Content-Type", contentType, "Cache-Control", "no-store"];
    // Headers that could not be sent before have already exposed their names.
    this.http.exposed = [];
    for (const [name, values] of sentMetadata(own)) this.expose(headers, name, values);
    return headers;
  }

  /** Adds a header that the calling page may read. */
  protected expose(headers: string[], name: string, values: readonly string[]): void {
    for (const value of values) headers.push(name, value);
    this.http.exposed = [...this.http.exposed, name];
  }

  #lost(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const reason = new ServiceError("CANCELLED");
    this.account.close();
    this.stopReading(reason);
    this.#onCancel?.(reason);
  }
}

/** The headers of a handler in wire form: binary values in base64 without padding. */
export function sentMetadata(
  own: ResponseMetadata | undefined,
): readonly (readonly [name: string, values: readonly string[]])[] {
  if (own === undefined) return [];
  const sent: [string, readonly string[]][] = [];
  for (const [name, value] of own) {
    if (RESERVED_OF_WEB.test(name) || name === REQUEST_ID_HEADER) continue;
    const values = typeof value === "string" ? [value] : value;
    sent.push([name, values.map((each) => sentValue(name, each))]);
  }
  return sent;
}
