import {
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from "node:http2";
import type { Peer } from "../call/peer.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../call/request-id.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { GrpcHeaders } from "./grpc-headers.ts";
import { clientTimeoutOf, TIMEOUT_HEADER } from "./grpc-timeout.ts";
import { initialHeaders } from "./initial-headers.ts";
import {
  ACCEPT_ENCODING_HEADER,
  acceptsGzip,
  ENCODING_HEADER,
  requestEncodingOf,
} from "./message-encoding.ts";
import { MessageReader } from "./message-reader.ts";
import { frameMessage, writeFrame } from "./message-writer.ts";
import { errorTrailers, OK_TRAILERS } from "./response-status.ts";

/** How long a client may take nothing of what is left of a call that is over. */
const LINGER_MS = 30_000;

/** What is the same for all calls of a server. */
export interface ExchangeSettings {
  /** The name of the deployed service: the domain of errors. */
  readonly domain: string;
  readonly maxMessageBytes: number;
}

/** One gRPC call on the wire: an HTTP/2 stream, its messages and its status. It knows nothing of policies. */
export class GrpcExchange {
  readonly headers: GrpcHeaders;
  readonly peer: Peer;
  readonly requestId: string;
  /** How many bytes of messages were sent. */
  sentBytes = 0;

  readonly #stream: ServerHttp2Stream;
  readonly #settings: ExchangeSettings;
  readonly #gzip: boolean;
  #begun = false;
  #ended = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: GrpcHeaders,
    peer: Peer,
    settings: ExchangeSettings,
  ) {
    this.#stream = stream;
    this.headers = headers;
    this.peer = peer;
    this.requestId = requestIdOf(headers);
    this.#settings = settings;
    this.#gzip = acceptsGzip(headers.all(ACCEPT_ENCODING_HEADER));
  }

  /**
   * How long the client waits, in milliseconds.
   *
   * @throws ServiceError INVALID_ARGUMENT
   */
  clientTimeout(): number | undefined {
    return clientTimeoutOf(this.headers.all(TIMEOUT_HEADER));
  }

  /** @throws ServiceError for an encoding that is not known */
  reader(): MessageReader {
    const encoding = requestEncodingOf(this.headers.all(ENCODING_HEADER));
    return new MessageReader(this.#stream, encoding, this.#settings.maxMessageBytes);
  }

  /** Whether the client can still be told anything. */
  get isOpen(): boolean {
    return !this.#ended && !this.#stream.closed && !this.#stream.destroyed;
  }

  /** Calls back when the client has gone before the call was over. */
  onCancel(listener: () => void): void {
    this.#stream.once("close", () => {
      if (!this.#ended) listener();
    });
  }

  /** Sends the initial metadata; without effect once it was sent. */
  begin(headers?: ReadonlyMap<string, string>): void {
    if (this.#begun || !this.isOpen) return;
    this.#begun = true;
    this.#stream.respond(initialHeaders(this.requestId, headers, this.#gzip), {
      waitForTrailers: true,
      sendDate: false,
    } as ServerStreamResponseOptions);
  }

  /**
   * Sends a message behind the initial metadata; resolves when the client takes more.
   *
   * @param signal ends the wait for a client that takes nothing
   */
  async send(data: Uint8Array, signal: () => AbortSignal): Promise<void> {
    this.begin();
    const frame = frameMessage(data, this.#gzip, this.#settings.maxMessageBytes);
    const buffers = frame instanceof Promise ? await frame : frame;
    if (!this.isOpen) return;
    this.sentBytes += data.length;
    await writeFrame(this.#stream, buffers, signal);
  }

  /** Ends the call well. */
  succeed(): void {
    if (!this.isOpen) return;
    this.begin();
    this.#finish(OK_TRAILERS);
  }

  /** Sends the only message and ends the call well: what `begin`, `send` and `succeed` do, in one. */
  reply(
    data: Uint8Array,
    headers: ReadonlyMap<string, string> | undefined,
  ): undefined | Promise<void> {
    const frame = frameMessage(data, this.#gzip, this.#settings.maxMessageBytes);
    if (frame instanceof Promise) return frame.then((buffers) => this.#reply(buffers, headers));
    this.#reply(frame, headers);
    return undefined;
  }

  #reply(buffers: readonly Buffer[], headers: ReadonlyMap<string, string> | undefined): void {
    if (!this.isOpen) return;
    this.begin(headers);
    for (const buffer of buffers) this.sentBytes += buffer.length;
    const last = buffers.at(-1);
    for (const buffer of buffers) if (buffer !== last) this.#stream.write(buffer);
    this.#finish(OK_TRAILERS, last);
  }

  /** Ends the call with an error; without effect once it has ended. */
  fail(error: ServiceError, headers?: ReadonlyMap<string, string>): void {
    if (!this.isOpen) return;
    const trailers = errorTrailers(error, this.#settings.domain);
    if (this.#begun) {
      // Behind what the client does not take, it would not see the status either.
      if (this.#stream.writableNeedDrain) return this.#stream.close(constants.NGHTTP2_CANCEL);
      return this.#finish({ ...trailers, [REQUEST_ID_HEADER]: this.requestId });
    }
    this.#begun = true;
    this.#ended = true;
    // Trailers only: the status comes with the headers.
    this.#stream.respond({ ...initialHeaders(this.requestId, headers, false), ...trailers }, {
      endStream: true,
      sendDate: false,
    } as ServerStreamResponseOptions);
    this.#stopReading();
  }

  #finish(trailers: OutgoingHttpHeaders, last?: Buffer): void {
    this.#ended = true;
    this.#stream.once("wantTrailers", () => {
      // The client may have gone since.
      if (this.#stream.destroyed || this.#stream.closed) return;
      this.#stream.sendTrailers(trailers);
      this.#stopReading();
    });
    this.#stream.end(last);
    if (this.#stream.writableNeedDrain) {
      this.#stream.setTimeout(LINGER_MS, () => this.#stream.close(constants.NGHTTP2_CANCEL));
    }
  }

  /** What the client still sends is not wanted, once the status is on its way. */
  #stopReading(): void {
    const stream = this.#stream;
    if (stream.readableEnded) return;
    setImmediate(() => {
      if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }
}
