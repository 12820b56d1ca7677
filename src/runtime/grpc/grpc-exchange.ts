import type { OutgoingHttpHeaders } from "node:http2";
import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import type { Peer } from "../call/peer.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../call/request-id.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { Turn } from "../server/turn.ts";
import type { GrpcHeaders } from "./grpc-headers.ts";
import { peerOf } from "./grpc-peer.ts";
import { clientTimeoutOf, TIMEOUT_HEADER } from "./grpc-timeout.ts";
import {
  ACCEPT_ENCODING_HEADER,
  acceptsGzip,
  checkEncoding,
  ENCODING_HEADER,
} from "./message-encoding.ts";
import { COMPRESS_FROM_BYTES, compressedFrameOf, frameOf } from "./message-frame.ts";
import { refusalOf } from "./refusal.ts";
import { RequestReader } from "./request-reader.ts";
import { ownMetadata, responseHeaders } from "./response-headers.ts";
import { OK_TRAILERS, statusTrailers } from "./response-status.ts";
import { ResponseWriter } from "./response-writer.ts";
import type { Arrival } from "./stream-guard.ts";

/** What grpc-js tells of a call. */
type Listener = Parameters<ServerInterceptingCallInterface["start"]>[0];

/** What is the same for all calls of a server. */
export interface ExchangeSettings {
  /** The name of the deployed service: the domain of errors. */
  readonly domain: string;
  /** Whether large responses are compressed for clients that understand it. */
  readonly compression: boolean;
}

const turn = new Turn();

/**
 * One gRPC call: its messages as grpc-js reads them, its headers as the guard saw them, and
 * its response. It knows nothing of policies.
 *
 * It stands where interceptors of grpc-js do, below its streams: those would read ahead, and
 * cost as much as the chain. It writes the response by itself: grpc-js compresses none.
 */
export class GrpcExchange implements Listener {
  /** As it was sent. */
  readonly path: string;
  readonly headers: GrpcHeaders;
  readonly peer: Peer;
  readonly requestId: string;

  readonly #reader: RequestReader;
  readonly #response: ResponseWriter;
  readonly #settings: ExchangeSettings;
  #onCancel: ((reason: ServiceError) => void) | undefined;
  #wasRefused = false;
  #compresses = false;

  constructor(call: ServerInterceptingCallInterface, arrival: Arrival, settings: ExchangeSettings) {
    const { stream, path, headers, respond } = arrival;
    this.#settings = settings;
    this.path = path;
    this.headers = headers;
    this.requestId = requestIdOf(headers);
    this.peer = peerOf(stream.session as Parameters<typeof peerOf>[0]);
    this.#reader = new RequestReader(call);
    this.#response = new ResponseWriter(stream, respond);
    arrival.onRefusal = (grpcStatus) => {
      this.#wasRefused = true;
      stream.once("close", () => this.#response.closed());
      if (!this.#response.hasEnded) this.#cancel(refusalOf(grpcStatus));
    };
  }

  /** The guard has the metadata as they came. */
  onReceiveMetadata(): void {}

  onReceiveMessage(message: Buffer): void {
    this.#reader.received(message);
  }

  onReceiveHalfClose(): void {
    this.#reader.ended();
  }

  /** grpc-js says so at the end of every call, however it came, and when it has refused a message. */
  onCancel(): void {
    if (this.#wasRefused) return;
    this.#response.closed();
    if (!this.#response.hasEnded) this.#cancel(new ServiceError("CANCELLED"));
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
  reader(): RequestReader {
    checkEncoding(this.headers.all(ENCODING_HEADER));
    return this.#reader;
  }

  /** Calls back when the client has gone, or a message was refused, before the call was over. */
  whenCancelled(listener: (reason: ServiceError) => void): void {
    this.#onCancel = listener;
  }

  /** Sends the headers, in a response of many messages; without effect once they were sent. */
  begin(own?: ReadonlyMap<string, string>): void {
    if (this.#response.hasBegun || !this.#response.isOpen) return;
    const headers = responseHeaders(this.requestId, own);
    if (this.#mayCompress()) this.#compress(headers);
    this.#response.begin(headers);
  }

  /**
   * Sends a message behind the headers; resolves when the client takes more.
   *
   * @param signal ends the wait for a client that takes nothing
   */
  async send(data: Uint8Array, signal: () => AbortSignal): Promise<void> {
    this.begin();
    const isLarge = this.#compresses && data.length >= COMPRESS_FROM_BYTES;
    const frame = isLarge ? await compressedFrameOf(data) : frameOf(data);
    if (this.#response.isOpen) await this.#response.write(frame, signal);
  }

  /** Ends a call of many messages well. */
  succeed(trailers?: ReadonlyMap<string, string>): void {
    this.begin();
    if (this.#response.isOpen) this.#response.end(okTrailers(trailers));
  }

  /** Sends the only message and ends the call well: what `begin`, `send` and `succeed` do, in one. */
  reply(
    data: Uint8Array,
    own?: ReadonlyMap<string, string>,
    ownTrailers?: ReadonlyMap<string, string>,
  ): void {
    const headers = responseHeaders(this.requestId, own);
    const trailers = okTrailers(ownTrailers);
    if (data.length < COMPRESS_FROM_BYTES || !this.#mayCompress()) {
      return this.#replyWith(headers, frameOf(data), trailers);
    }
    this.#compress(headers);
    compressedFrameOf(data).then(
      (frame) => this.#replyWith(headers, frame, trailers),
      (error: unknown) => this.fail(toServiceError(error)),
    );
  }

  /** Ends the call with an error; without effect once it has ended. */
  fail(
    error: ServiceError,
    own?: ReadonlyMap<string, string>,
    ownTrailers?: ReadonlyMap<string, string>,
  ): void {
    const response = this.#response;
    if (!response.isOpen) return;
    // Behind what the client does not take, it would not see the status either.
    if (response.isStuck) return response.cancel();
    const trailers = {
      ...(ownTrailers && ownMetadata(ownTrailers)),
      ...statusTrailers(error, this.#settings.domain),
    };
    if (response.hasBegun) response.end({ ...trailers, [REQUEST_ID_HEADER]: this.requestId });
    else response.endAtOnce({ ...responseHeaders(this.requestId, own), ...trailers });
  }

  #replyWith(headers: OutgoingHttpHeaders, frame: Buffer, trailers: OutgoingHttpHeaders): void {
    turn.atEnd(() => {
      if (!this.#response.isOpen) return;
      try {
        this.#response.begin(headers);
        this.#response.end(trailers, frame);
      } catch (error) {
        // Of what Node does not send, the others of this turn know nothing.
        this.fail(toServiceError(error));
      }
    });
  }

  #mayCompress(): boolean {
    return this.#settings.compression && acceptsGzip(this.headers.all(ACCEPT_ENCODING_HEADER));
  }

  #compress(headers: OutgoingHttpHeaders): void {
    this.#compresses = true;
    headers[ENCODING_HEADER] = "gzip";
  }

  #cancel(reason: ServiceError): void {
    this.#reader.cancelled(reason);
    this.#onCancel?.(reason);
  }
}

function okTrailers(own: ReadonlyMap<string, string> | undefined): OutgoingHttpHeaders {
  return own === undefined ? OK_TRAILERS : { ...ownMetadata(own), ...OK_TRAILERS };
}
