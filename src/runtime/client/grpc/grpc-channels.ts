import type { EventEmitter } from "node:events";
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type StatusObject,
} from "@grpc/grpc-js";
import { ipAddressOf, withoutServerName } from "../../../common/grpc-address.ts";
import { streamsRequest, streamsResponse } from "../../binding/bound-method.ts";
import {
  type ClientCall,
  type ClientOptions,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_USER_AGENT,
} from "../call/client-call.ts";
import { type ClientTls, pemBytes } from "../call/client-tls.ts";
import { isGrpcError, toClientError } from "./grpc-error.ts";
import {
  decodeResponse as decode,
  decodeResponses,
  encodeRequest as encode,
  pumpRequests,
  ResponseHeaders,
  type ResponseStream,
} from "./message-streams.ts";

/** What grpc-js sends and gives; messages are encoded and decoded here. */
const AS_IS = (bytes: Buffer): Buffer => bytes;
/** The suffix of names whose values are binary. */
const BINARY_SUFFIX = "-bin";
/** Without it, calls to a server that disappeared silently would time out one after the other. */
const KEEPALIVE_MS = 30_000;
/**
 * The maximum time between attempts to connect, which grows from one second. By default it grows to
 * two minutes, for which calls would fail after the server is up again.
 */
const MAX_RECONNECT_MS = 2000;
/**
 * Servers close a connection that is pinged more often than every five minutes while it is idle
 * (gRPC's A8).
 */
const STREAM_KEEPALIVE_MS = 330_000;

/** Sends calls with `@grpc/grpc-js`. Importing this file loads it, which is large. */
export class GrpcChannels {
  /** Unary calls: a connection with responses is not idle. */
  readonly #unary: Client;
  /** Streams, which may be idle for any time, on a connection of their own. */
  readonly #streams: Client;

  constructor(options: GrpcChannelOptions) {
    const { target } = options;
    const secure = credentialsOf(options);
    const clientWith = (keepalive: number): Client =>
      new Client(target, secure, channelOptions(options, keepalive));
    // Neither connects before its first call.
    this.#unary = clientWith(KEEPALIVE_MS);
    this.#streams = clientWith(STREAM_KEEPALIVE_MS);
  }

  send(call: ClientCall): Promise<unknown> {
    return streamsResponse(call.method.methodKind) ? this.#stream(call) : this.#single(call);
  }

  close(): void {
    this.#unary.close();
    this.#streams.close();
  }

  /** One response: unary and client streaming. */
  #single(call: ClientCall): Promise<unknown> {
    const { method, signal } = call;
    const path = `/${call.rpc}`;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      let stopReading: (() => void) | undefined;
      const answered = (error: unknown, data: Buffer | undefined): void => {
        signal?.removeEventListener("abort", cancel);
        stopReading?.();
        if (error !== null) return reject(failure(error, call, () => sent.getPeer() !== target));
        try {
          resolve(decode(method.output, data));
        } catch (problem) {
          reject(problem);
        }
      };
      const args = [metadataOf(call), callOptionsOf(call)] as const;
      let sent: ClientUnaryCall;
      if (streamsRequest(method.methodKind)) {
        const writable = this.#streams.makeClientStreamRequest(
          path,
          AS_IS,
          AS_IS,
          ...args,
          answered,
        );
        stopReading = pumpRequests(call, writable, (error) => {
          reject(error);
          writable.cancel();
        });
        sent = writable;
      } else {
        const request = encode(method.input, call.request);
        // grpc-js requests one message only, and would wait until the deadline for the end of two.
        const asksOn = (bytes: Buffer): Buffer => {
          process.nextTick(() => sent.call?.startRead());
          return bytes;
        };
        sent = this.#unary.makeUnaryRequest(path, AS_IS, asksOn, request, ...args, answered);
      }
      // Until there is a connection, the peer is the given target.
      const target = sent.getPeer();
      reportMetadata(call, sent);
      const cancel = (): void => sent.cancel();
      signal?.addEventListener("abort", cancel);
    });
  }

  /** A response stream: resolves when it has begun, or rejects if it never does. */
  async #stream(call: ClientCall): Promise<AsyncIterable<unknown>> {
    const { method, signal } = call;
    if (signal?.aborted === true) throw signal.reason;
    const path = `/${call.rpc}`;
    const args = [metadataOf(call), callOptionsOf(call)] as const;
    let requestError: unknown;
    let stopReading: (() => void) | undefined;
    let received: ClientReadableStream<Buffer>;
    if (streamsRequest(method.methodKind)) {
      const duplex = this.#streams.makeBidiStreamRequest(path, AS_IS, AS_IS, ...args);
      stopReading = pumpRequests(call, duplex, (error) => {
        requestError = error;
        duplex.cancel();
      });
      received = duplex;
    } else {
      const request = encode(method.input, call.request);
      received = this.#streams.makeServerStreamRequest(path, AS_IS, AS_IS, request, ...args);
    }
    const target = received.getPeer();
    reportMetadata(call, received);
    const cancel = (): void => received.cancel();
    signal?.addEventListener("abort", cancel);
    const end = (): void => {
      signal?.removeEventListener("abort", cancel);
      stopReading?.();
    };
    const state: ResponseStream = {
      error: undefined,
      explain: (error) => requestError ?? failure(error, call, () => received.getPeer() !== target),
      leave: () => {
        end();
        received.cancel();
      },
    };
    await new Promise<void>((resolve, reject) => {
      // Kept to the end: an error may come while nobody reads.
      received.on("error", (error) => {
        state.error ??= error;
        end();
        reject(state.explain(error));
      });
      received.once("metadata", () => resolve());
      received.once("status", () => resolve());
    });
    return decodeResponses(received, method.output, state);
  }
}

function failure(error: unknown, call: ClientCall, wasSent: () => boolean): unknown {
  // The call was ended here: grpc-js only reports that it was cancelled.
  if (call.signal?.aborted === true) return call.signal.reason;
  return isGrpcError(error) ? toClientError(error, wasSent()) : error;
}

function metadataOf({ headers }: ClientCall): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) {
    // That is the channel's own.
    if (name === "user-agent") continue;
    if (!name.endsWith(BINARY_SUFFIX)) metadata.set(name, value);
    // Several are joined by commas, which base64 has none of.
    else for (const each of value.split(",")) metadata.add(name, Buffer.from(each, "base64"));
  }
  return metadata;
}

/** Passes the metadata of the response to the caller, if requested. */
function reportMetadata(
  { options: { onHeaders, onTrailers } }: ClientCall,
  sent: Pick<EventEmitter, "once">,
): void {
  if (onHeaders !== undefined) {
    sent.once("metadata", (metadata: Metadata) => onHeaders(new ResponseHeaders(metadata)));
  }
  if (onTrailers !== undefined) {
    sent.once("status", (end: StatusObject) => onTrailers(new ResponseHeaders(end.metadata)));
  }
}

function callOptionsOf({ deadline }: ClientCall): CallOptions {
  return Number.isFinite(deadline) ? { deadline } : {};
}

function credentialsOf({ target, tls }: GrpcChannelOptions): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const [ca, key, cert] = [tls.ca, tls.key, tls.certificate].map(bufferOf);
  const secure = credentials.createSsl(ca, key, cert);
  const address = tls.serverName === undefined ? ipAddressOf(target) : undefined;
  return address === undefined ? secure : withoutServerName(secure, address, { ca, key, cert });
}

function bufferOf(pem: string | Uint8Array | undefined): Buffer | undefined {
  return pem === undefined ? undefined : pemBytes(pem);
}

/** The options of a gRPC client. */
export interface GrpcClientOptions extends ClientOptions {
  /** The address of the service, `host:port`. */
  readonly target: string;
  /** Calls over TLS; absent, in plain text. */
  readonly tls?: GrpcClientTls;
  /**
   * How often a connection with calls under way is pinged, in milliseconds. 30,000 by default, and
   * 330,000 for streams: by default, other servers close a connection that is pinged more often
   * than every five minutes while nothing else is sent. 0 for never.
   */
  readonly keepaliveMs?: number;
}

/** The options of a client of the runtime itself. */
export interface GrpcChannelOptions extends GrpcClientOptions {
  /**
   * Whether clients of the same target may share a connection; true if absent. With false a new
   * client is a new connection, although an earlier one seems to be alive.
   */
  readonly sharesConnections?: boolean;
}

/**
 * The options of a connection, in the names of grpc-js.
 *
 * @param keepalive - the time between pings in milliseconds, unless the options name one
 */
export function channelOptions(options: GrpcChannelOptions, keepalive: number): ChannelOptions {
  const { tls, maxResponseBytes, userAgent, keepaliveMs, sharesConnections } = options;
  return {
    "grpc.max_receive_message_length": maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    "grpc.primary_user_agent": userAgent ?? DEFAULT_USER_AGENT,
    "grpc.keepalive_time_ms": keepaliveMs ?? keepalive,
    "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_MS,
    "grpc.enable_channelz": 0,
    ...(sharesConnections === false ? { "grpc.use_local_subchannel_pool": 1 } : {}),
    ...(tls?.serverName === undefined ? {} : { "grpc.ssl_target_name_override": tls.serverName }),
  };
}

/** The CA of the server, and the certificate of this client; in PEM. */
export interface GrpcClientTls extends ClientTls {
  /** The name that the server's certificate must have; absent, that of the target. */
  readonly serverName?: string;
}
