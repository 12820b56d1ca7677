import { type CallCredentials, challengesOf } from "../../call/credential-kinds.ts";
import { status } from "../../error/error-codes.ts";
import { retryAfter, type ServiceError } from "../../error/service-error.ts";
import type { Exchange } from "../../http/exchange/exchange.ts";
import type { CodecName, Metadata, RequestReader, RpcExchange } from "../../rpc/rpc-exchange.ts";
import { COMPRESS_FROM_BYTES, ENCODING_NAMES, responseCoding } from "../../wire/compression.ts";
import { BYTES, type MessageDecoder } from "../../wire/message-decoder.ts";
import { HttpRpcExchange, type HttpRpcSettings, sentMetadata } from "../exchange/http-exchange.ts";
import { connectError, connectStatus, connectTimeoutOf } from "./connect-error.ts";
import { manyMessages, type UnaryMessage, UnaryReader } from "./unary-message.ts";

const CONTENT_TYPES = { proto: "application/proto", json: "application/json" } as const;

/** One unary Connect call: an ordinary HTTP request and response. */
export class UnaryExchange extends HttpRpcExchange implements RpcExchange {
  readonly transport = "connect";
  readonly #message: () => UnaryMessage;
  #reader: Pick<UnaryReader<unknown>, "cancel"> | undefined;

  /** @param message reads the message; throws `ServiceError` if it is not valid */
  constructor(
    http: Exchange,
    path: string,
    codec: CodecName,
    settings: HttpRpcSettings,
    message: () => UnaryMessage,
  ) {
    super(http, path, codec, settings);
    this.#message = message;
  }

  clientTimeout(): number | undefined {
    return connectTimeoutOf(this.headers);
  }

  reader(): RequestReader<Uint8Array>;
  reader<Message>(decoder: MessageDecoder<Message>): RequestReader<Message>;
  reader(decoder: MessageDecoder<unknown> = BYTES): RequestReader<unknown> {
    const { maxBytes } = this.settings.limits;
    const reader = new UnaryReader(this.#message(), decoder, this.account, maxBytes);
    this.#reader = reader;
    return reader;
  }

  begin(): void {
    manyMessages();
  }

  send(): Promise<void> {
    return manyMessages();
  }

  succeed(): void {
    manyMessages();
  }

  /** Node writes text in one piece with the headers, which costs less than two pieces. */
  get repliesText(): boolean {
    return this.codec === "json";
  }

  reply(data: Uint8Array | string, own?: Metadata, trailers?: Metadata): void | Promise<void> {
    if (!this.isOpen) return this.left();
    const headers = this.headersOf(CONTENT_TYPES[this.codec], own);
    this.#addTrailers(headers, trailers);
    // Small answers are neither compressed nor worth the way through bytes.
    if (data.length < COMPRESS_FROM_BYTES) return this.#send(200, data, headers);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    const encoding = this.settings.compression
      ? responseCoding(this.headers.all("accept-encoding"))
      : undefined;
    if (encoding === undefined) return this.#send(200, bytes, headers);
    headers.push("Content-Encoding", encoding.name, "Vary", "Accept-Encoding");
    return encoding.pack(bytes).then((packed) => this.#send(200, packed, headers));
  }

  fail(error: ServiceError, own?: Metadata, trailers?: Metadata, call?: CallCredentials): void {
    if (!this.isOpen) return this.left();
    const headers = this.headersOf(CONTENT_TYPES.json, own);
    this.#addTrailers(headers, trailers);
    const seconds = retryAfter(error);
    if (seconds !== undefined) headers.push("Retry-After", seconds);
    if (error.grpcStatus === status.UNAUTHENTICATED) {
      headers.push("WWW-Authenticate", challengesOf(call));
    }
    // For a client with an unknown compression: the supported ones.
    if (error.grpcStatus === status.UNIMPLEMENTED) {
      headers.push("Accept-Encoding", ENCODING_NAMES.join(","));
    }
    const body = JSON.stringify(connectError(error, this.settings.domain));
    this.#send(connectStatus(error), body, headers);
  }

  protected stopReading(): void {
    // The reader of the body is notified of its end.
    this.#reader?.cancel();
    this.#reader = undefined;
  }

  #send(httpStatus: number, body: string | Uint8Array, headers: string[]): void {
    if (!this.isOpen) return this.left();
    this.http.send(httpStatus, body, headers);
    this.ended();
  }

  #addTrailers(headers: string[], trailers: Metadata | undefined): void {
    for (const [name, values] of sentMetadata(trailers)) {
      this.expose(headers, `Trailer-${name}`, values);
    }
  }
}
