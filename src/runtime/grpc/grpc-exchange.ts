import { constants, type ServerHttp2Stream } from "node:http2";
import { Metadata, type ServerInterceptingCallInterface } from "@grpc/grpc-js";
import type { Peer } from "../call/peer.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../call/request-id.ts";
import { status } from "../error/grpc-status.ts";
import { ServiceError } from "../error/service-error.ts";
import { Turn } from "../server/turn.ts";
import type { GrpcHeaders } from "./grpc-headers.ts";
import { peerOf } from "./grpc-peer.ts";
import { clientTimeoutOf, TIMEOUT_HEADER } from "./grpc-timeout.ts";
import {
  ACCEPT_ENCODING_HEADER,
  ACCEPTED_ENCODINGS,
  checkEncoding,
  ENCODING_HEADER,
} from "./message-encoding.ts";
import { refusalOf } from "./refusal.ts";
import { RequestReader } from "./request-reader.ts";
import { initialMetadata } from "./response-metadata.ts";
import { statusOf } from "./response-status.ts";
import type { Arrival } from "./stream-guard.ts";

/** The bytes that may wait for a client before the handler does. */
const MAX_UNSENT_BYTES = 64 * 1024;

/** How long a client may take nothing of what is left of a call that is over. */
const LINGER_MS = 30_000;

/** What grpc-js tells of a call. */
type Listener = Parameters<ServerInterceptingCallInterface["start"]>[0];

const turn = new Turn();

const OK = { code: status.OK, details: "OK", metadata: new Metadata() };

/**
 * One gRPC call, as grpc-js has it and with what the guard saw. It knows nothing of policies.
 *
 * It stands where interceptors of grpc-js do, below its streams: those would read ahead, and
 * cost as much as the chain.
 */
export class GrpcExchange implements Listener {
  readonly headers: GrpcHeaders;
  readonly peer: Peer;
  readonly requestId: string;

  readonly #call: ServerInterceptingCallInterface;
  readonly #reader: RequestReader;
  readonly #stream: ServerHttp2Stream;
  readonly #domain: string;
  #onCancel: ((reason: ServiceError) => void) | undefined;
  /** Has whoever waits for the client to take more go on. */
  #wake: (() => void) | undefined;
  #unsentBytes = 0;
  #begun = false;
  #ended = false;

  /** @param domain the name of the deployed service: the domain of errors */
  constructor(call: ServerInterceptingCallInterface, { stream, headers }: Arrival, domain: string) {
    this.#call = call;
    this.#stream = stream;
    this.#domain = domain;
    this.headers = headers;
    this.requestId = requestIdOf(headers);
    this.peer = peerOf(stream.session as Parameters<typeof peerOf>[0]);
    this.#reader = new RequestReader(call);
  }

  /** The guard has the metadata as they came. */
  onReceiveMetadata(): void {}

  onReceiveMessage(message: Buffer): void {
    this.#reader.received(message);
  }

  onReceiveHalfClose(): void {
    this.#reader.ended();
  }

  /** grpc-js says so at the end of every call, however it came. */
  onCancel(): void {
    if (!this.#ended) this.#onCancel?.(refusalOf(this.#stream) ?? new ServiceError("CANCELLED"));
    this.#ended = true;
    this.#reader.cancelled();
    this.#wake?.();
    this.#stopReading();
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

  /** Whether the client can still be told anything. */
  get isOpen(): boolean {
    return !this.#ended && !this.#stream.closed && !this.#stream.destroyed;
  }

  /** Calls back when the client has gone, or grpc-js has refused it, before the call was over. */
  whenCancelled(listener: (reason: ServiceError) => void): void {
    this.#onCancel = listener;
  }

  /** Sends the initial metadata; without effect once it was sent. */
  begin(headers?: ReadonlyMap<string, string>): void {
    if (this.#begun || !this.isOpen) return;
    this.#call.sendMetadata(initialMetadata(this.requestId, headers));
    this.#begun = true;
  }

  /**
   * Sends a message behind the initial metadata; resolves when the client takes more.
   *
   * @param signal ends the wait for a client that takes nothing
   */
  async send(data: Uint8Array, signal: () => AbortSignal): Promise<void> {
    this.begin();
    if (!this.isOpen) return;
    this.#unsentBytes += data.length;
    this.#call.sendMessage(data, () => {
      this.#unsentBytes -= data.length;
      this.#wake?.();
    });
    if (this.#unsentBytes <= MAX_UNSENT_BYTES) return;
    const aborted = signal();
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#wake = undefined;
        aborted.removeEventListener("abort", done);
        resolve();
      };
      this.#wake = done;
      aborted.addEventListener("abort", done);
      if (aborted.aborted) done();
    });
  }

  /** Ends the call well. */
  succeed(): void {
    if (!this.isOpen) return;
    this.begin();
    this.#finish();
    this.#call.sendStatus(OK);
  }

  /** Sends the only message and ends the call well: what `begin`, `send` and `succeed` do, in one. */
  reply(data: Uint8Array, headers?: ReadonlyMap<string, string>): void {
    // Here, so that a header of the handler that is none is still an error of the call.
    const metadata = initialMetadata(this.requestId, headers);
    turn.atEnd(() => {
      if (!this.isOpen) return;
      this.#call.sendMetadata(metadata);
      this.#call.sendMessage(data, () => undefined);
      this.#finish();
      this.#call.sendStatus(OK);
    });
  }

  /** Ends the call with an error; without effect once it has ended. */
  fail(error: ServiceError, headers?: ReadonlyMap<string, string>): void {
    if (!this.isOpen) return;
    // Behind what the client does not take, it would not see the status either.
    if (this.#unsentBytes > MAX_UNSENT_BYTES) return this.#stream.close(constants.NGHTTP2_CANCEL);
    const told = statusOf(error, this.#domain);
    if (this.#begun) told.metadata.set(REQUEST_ID_HEADER, this.requestId);
    else {
      // Trailers only: the status comes with the headers.
      told.metadata.merge(initialMetadata(this.requestId, headers));
      told.metadata.set(ACCEPT_ENCODING_HEADER, ACCEPTED_ENCODINGS);
    }
    this.#finish();
    this.#call.sendStatus(told);
  }

  #finish(): void {
    this.#ended = true;
    if (this.#stream.writableNeedDrain || this.#unsentBytes > 0) {
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
