import type { CallHeaders } from "../call/call-headers.ts";
import type { CallCredentials } from "../call/credential-kinds.ts";
import type { ResponseMetadata } from "../call/response-fields.ts";
import type { Transport } from "../call/transports.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";
import type { MessageDecoder } from "../wire/message-decoder.ts";

/** How messages are encoded. */
export type CodecName = "proto" | "json";

/** The headers or trailers of a handler, by name. */
export type Metadata = ResponseMetadata;

/** Reads the messages of a request: the only one, or one after the other. */
export interface RequestReader<Message> {
  /** @throws ServiceError INVALID_ARGUMENT if there is not exactly one, or why the call was cancelled */
  single(): Promise<Message>;
  messages(): AsyncGenerator<Message>;
}

/**
 * One call of an RPC in its protocol: gRPC, gRPC-Web or Connect. The code that serves it does not
 * know the protocol, and the exchange does not know policies.
 */
export interface RpcExchange {
  readonly transport: Transport;
  readonly codec: CodecName;
  /** Whether `reply` prefers text, where the codec has it: bytes would be decoded again to be sent. */
  readonly repliesText?: boolean;
  readonly httpMethod: string;
  /** As it was sent. */
  readonly path: string;
  readonly headers: CallHeaders;
  readonly peer: Peer;
  readonly requestId: string;
  /**
   * How long the client waits, in milliseconds; undefined if it sends no timeout.
   *
   * @throws ServiceError INVALID_ARGUMENT
   */
  clientTimeout(): number | undefined;
  /**
   * Reads the request's messages as bytes, or with a decoder. It reads nothing before a message is
   * requested.
   *
   * @throws ServiceError for an encoding that is not known
   */
  reader(): RequestReader<Uint8Array>;
  reader<Message>(decoder: MessageDecoder<Message>): RequestReader<Message>;
  /** The call is one too many, and will be refused: its connection may be given fewer. Absent if it has one at a time. */
  tooMany?(): void;
  /** Calls back if the client has disconnected, or a message was refused, before the call was over. */
  whenCancelled(listener: (reason: ServiceError) => void): void;
  /** Sends the headers, in a response of many messages; no effect once they were sent. */
  begin(own?: Metadata): void;
  /**
   * Sends a message after the headers; resolves when the client can receive more.
   *
   * @param signal ends the wait for a client that reads nothing
   */
  send(data: Uint8Array, signal: () => AbortSignal): Promise<void>;
  /** Ends a call of many messages with success. */
  succeed(trailers?: Metadata): void;
  /**
   * Sends the only message and ends the call with success: `begin`, `send` and `succeed` in one
   * step. Throws, or rejects, if it cannot be sent; the call can fail then.
   */
  reply(data: Uint8Array | string, own?: Metadata, trailers?: Metadata): void | Promise<void>;
  /**
   * Ends the call with an error; no effect once it has ended. Throws if the handler's headers
   * cannot be sent; the call can fail without them then.
   *
   * @param call what it says about its credentials, for a protocol with challenges
   */
  fail(error: ServiceError, own?: Metadata, trailers?: Metadata, call?: CallCredentials): void;
  /** Aborts the response if no error can be reported. Does not throw. */
  cancel(): void;
}
