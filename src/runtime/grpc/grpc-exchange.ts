import type { OutgoingHttpHeaders } from "node:http2";
import { REQUEST_ID_HEADER, requestIdOf } from "../call/call-ids.ts";
import type { ResponseMetadata } from "../call/response-fields.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import type { ArrivedStream } from "../http2/http2-connection.ts";
import type { Http2Headers } from "../http2/http2-headers.ts";
import type { Peer } from "../peer/peer.ts";
import { EventLoopTurn } from "../port/event-loop-turn.ts";
import type { CodecName, RpcExchange } from "../rpc/rpc-exchange.ts";
import {
  COMPRESS_FROM_BYTES,
  type MessageEncoding,
  requestEncoding,
  responseEncoding,
} from "../wire/compression.ts";
import { envelopeOf, flag, prefixOf } from "../wire/envelope.ts";
import { MessageAccount } from "../wire/message-budget.ts";
import { BYTES, type MessageDecoder, maxBytesOf } from "../wire/message-decoder.ts";
import { MessageReader } from "../wire/message-reader.ts";
import {
  ACCEPT_ENCODING_HEADER,
  clientTimeoutOf,
  ENCODING_HEADER,
  ownMetadata,
  responseHeaders,
  TIMEOUT_HEADER,
} from "./grpc-headers.ts";
import { OK_TRAILERS, statusTrailers } from "./response-status.ts";
import { ResponseWriter } from "./response-writer.ts";

/** The data that all calls of a server share. */
export interface ExchangeSettings {
  /** The name of the deployed service: the domain of errors; undefined if these have no `ErrorInfo`. */
  readonly domain: string | undefined;
  /** Whether large responses are compressed for clients that understand it. */
  readonly compression: boolean;
  readonly maxMessageBytes: number;
}

/** Of calls whose messages are JSON. */
const JSON_TYPE = /^application\/grpc\+json\s*(;|$)/i;

const turn = new EventLoopTurn();

/** One gRPC call: its headers, its messages and its response on an HTTP/2 stream. It knows nothing of policies. */
export class GrpcExchange implements RpcExchange {
  readonly transport = "grpc";
  readonly codec: CodecName;
  readonly httpMethod = "POST";
  /** As it was sent. */
  readonly path: string;
  readonly headers: Http2Headers;
  readonly peer: Peer;
  readonly requestId: string;

  readonly #arrived: ArrivedStream;
  readonly #response: ResponseWriter;
  readonly #settings: ExchangeSettings;
  readonly #account: MessageAccount;
  /** Whether its client waits for the response to begin. */
  #isWaiting = true;
  #reader: Pick<MessageReader<unknown>, "cancel" | "isOver"> | undefined;
  #onCancel: ((reason: ServiceError) => void) | undefined;
  #encoding: MessageEncoding | undefined;

  constructor(
    arrived: ArrivedStream,
    path: string,
    headers: Http2Headers,
    settings: ExchangeSettings,
  ) {
    const { stream, connection } = arrived;
    this.#arrived = arrived;
    this.#settings = settings;
    this.path = path;
    this.headers = headers;
    this.requestId = requestIdOf(headers);
    this.codec = JSON_TYPE.test(headers.all("content-type")[0] ?? "") ? "json" : "proto";
    this.peer = connection.peer;
    this.#account = new MessageAccount(connection.budget);
    this.#response = new ResponseWriter(stream, connection.unread);
    stream.on("close", () => this.#closed());
    turn.enter();
  }

  /**
   * How long the client waits, in milliseconds.
   *
   * @throws ServiceError INVALID_ARGUMENT
   */
  clientTimeout(): number | undefined {
    return clientTimeoutOf(this.headers.all(TIMEOUT_HEADER));
  }

  /**
   * Reads the request's messages as bytes, or as what a decoder makes of them.
   *
   * @throws ServiceError for an encoding that is not known
   */
  reader(): MessageReader<Uint8Array>;
  reader<Message>(decoder: MessageDecoder<Message>): MessageReader<Message>;
  reader(decoder: MessageDecoder<unknown> = BYTES): MessageReader<unknown> {
    const { stream } = this.#arrived;
    const reader = new MessageReader(stream, {
      decoder,
      maxBytes: maxBytesOf(decoder, this.#settings.maxMessageBytes),
      encoding: requestEncoding(ENCODING_HEADER, this.headers.all(ENCODING_HEADER)),
      account: this.#account,
      isBrokenOff: () => stream.closed || stream.aborted,
      onRefused: (reason) => this.#onCancel?.(reason),
    });
    this.#reader = reader;
    return reader;
  }

  /** Calls back if the client has disconnected, or a message was refused, before the call was over. */
  whenCancelled(listener: (reason: ServiceError) => void): void {
    this.#onCancel = listener;
  }

  tooMany(): void {
    this.#arrived.connection.tooMany();
  }

  /** Sends the headers, in a response of many messages; no effect once they were sent. */
  begin(own?: ResponseMetadata): void {
    if (this.#response.hasBegun || !this.#response.isOpen) return;
    const headers = responseHeaders(this.requestId, this.codec, own);
    this.#mayCompress(headers);
    this.#account.lasts((reason) => this.#onCancel?.(reason));
    this.#answered();
    this.#response.begin(headers);
  }

  /**
   * Sends a message after the headers; resolves when the client can receive more.
   *
   * @param signal ends the wait for a client that reads nothing
   */
  async send(data: Uint8Array, signal: () => AbortSignal): Promise<void> {
    this.begin();
    const encoding = data.length >= COMPRESS_FROM_BYTES ? this.#encoding : undefined;
    const frame = encoding === undefined ? envelopeOf(data) : await packed(encoding, data);
    if (this.#response.isOpen) await this.#response.write(frame, signal);
  }

  /** Ends a call of many messages with success. */
  succeed(trailers?: ResponseMetadata): void {
    this.begin();
    if (this.#response.isOpen) this.#response.end(OK_TRAILERS, trailers && ownMetadata(trailers));
    this.#forget();
  }

  /**
   * Sends the only message and ends the call with success: `begin`, `send` and `succeed` in one
   * step.
   */
  reply(
    data: Uint8Array,
    own?: ResponseMetadata,
    ownTrailers?: ResponseMetadata,
  ): void | Promise<void> {
    const headers = responseHeaders(this.requestId, this.codec, own);
    const trailers = ownTrailers && ownMetadata(ownTrailers);
    if (data.length < COMPRESS_FROM_BYTES) {
      return this.#replyWith(headers, envelopeOf(data), trailers);
    }
    const encoding = this.#mayCompress(headers);
    if (encoding === undefined) return this.#replyAtOnce(headers, data, flag.PLAIN, trailers);
    return encoding
      .pack(data)
      .then((packed) => this.#replyAtOnce(headers, packed, flag.COMPRESSED, trailers));
  }

  /** Ends the call with an error; no effect once it has ended. */
  fail(error: ServiceError, own?: ResponseMetadata, ownTrailers?: ResponseMetadata): void {
    const response = this.#response;
    if (!response.isOpen) return;
    // Waiters for a message get the same error.
    this.#reader?.cancel(error);
    this.#account.close();
    // A client that does not read the response would not see the status either.
    if (response.isStuck) return response.cancel();
    const trailers = ownTrailers && ownMetadata(ownTrailers);
    const status = statusTrailers(error, this.#settings.domain);
    // A response of headers only would make the handler's headers trailers.
    if (own !== undefined) this.begin(own);
    if (response.hasBegun)
      response.end({ ...status, [REQUEST_ID_HEADER]: this.requestId }, trailers);
    else {
      const headers = responseHeaders(this.requestId, this.codec, undefined);
      response.endAtOnce({ ...headers, ...trailers, ...status });
    }
    this.#forget();
  }

  /** Aborts the response. */
  cancel(): void {
    this.#response.cancel();
  }

  #replyWith(
    headers: OutgoingHttpHeaders,
    frame: Buffer,
    trailers: OutgoingHttpHeaders | undefined,
  ): void {
    turn.atEnd(() => this.#sendReply(headers, frame, trailers));
  }

  /**
   * Sends a large message at once: at the end of the turn, those of all its calls would be in memory
   * before the first counts as unread.
   */
  #replyAtOnce(
    headers: OutgoingHttpHeaders,
    data: Uint8Array,
    flags: number,
    trailers: OutgoingHttpHeaders | undefined,
  ): void {
    this.#sendReply(headers, data, trailers, prefixOf(data.length, flags));
  }

  /** @param prefix what comes before the message, if that is not an envelope */
  #sendReply(
    headers: OutgoingHttpHeaders,
    message: Uint8Array,
    trailers: OutgoingHttpHeaders | undefined,
    prefix?: Buffer,
  ): void {
    if (!this.#response.isOpen) return;
    try {
      this.#response.begin(headers);
      this.#response.end(OK_TRAILERS, trailers, message, prefix);
      this.#forget();
    } catch (error) {
      // Headers that Node does not send do not affect the other calls of this turn.
      this.fail(toServiceError(error));
    }
  }

  /** A client that does not read its response must not keep the memory of its request. */
  #forget(): void {
    this.#answered();
    this.#account.close();
    // It leads to the call.
    this.#onCancel = undefined;
  }

  #answered(): void {
    if (this.#isWaiting) turn.leave();
    this.#isWaiting = false;
  }

  /** Sets the header with the encoding of messages, if they are compressed. */
  #mayCompress(headers: OutgoingHttpHeaders): MessageEncoding | undefined {
    if (!this.#settings.compression) return undefined;
    this.#encoding = responseEncoding(this.headers.all(ACCEPT_ENCODING_HEADER));
    if (this.#encoding !== undefined) headers[ENCODING_HEADER] = this.#encoding.name;
    return this.#encoding;
  }

  /** The stream has ended: everything was sent and read, or the client has disconnected. */
  #closed(): void {
    this.#answered();
    this.#account.close();
    this.#response.closed();
    // An error has a stack: creating one for each successful call would cost more than a stage of
    // the chain.
    if (this.#response.hasEnded && this.#reader?.isOver !== false) return;
    const reason = new ServiceError("CANCELLED");
    this.#reader?.cancel(reason);
    if (!this.#response.hasEnded) this.#onCancel?.(reason);
  }
}

async function packed(encoding: MessageEncoding, data: Uint8Array): Promise<Buffer> {
  return envelopeOf(await encoding.pack(data), flag.COMPRESSED);
}
