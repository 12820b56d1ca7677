import type { CallHeaders } from "../call/call-headers.ts";
import type { ResponseMetadata } from "../call/response-fields.ts";
import type { Transport } from "../call/transports.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";
import type { MessageDecoder } from "../wire/message-decoder.ts";

/** How messages are encoded. */
export type CodecName = "proto" | "json";

/** What a handler sets: headers or trailers, by name. */
export type Metadata = ResponseMetadata;

/** Reads the messages of a request: the only one, or one after the other. */
export interface RequestReader<Message> {
  /** @throws ServiceError INVALID_ARGUMENT where there is not exactly one, or why the call was cancelled */
  single(): Promise<Message>;
  messages(): AsyncGenerator<Message>;
}

/**
 * One call of an RPC as its protocol has it: gRPC, gRPC-Web or Connect. What serves it knows nothing
 * of the protocol, and this nothing of policies.
 */
export interface RpcExchange {
  readonly transport: Transport;
  readonly codec: CodecName;
  readonly httpMethod: string;
  /** As it was sent. */
  readonly path: string;
  readonly headers: CallHeaders;
  readonly peer: Peer;
  readonly requestId: string;
  /**
   * How long the client waits, in milliseconds; undefined where it does not say.
   *
   * @throws ServiceError INVALID_ARGUMENT
   */
  clientTimeout(): number | undefined;
  /**
   * What reads the request's messages as bytes, or as what a decoder makes of them. It reads nothing
   * before it is asked for a message.
   *
   * @throws ServiceError for an encoding that is not known
   */
  reader(): RequestReader<Uint8Array>;
  reader<Message>(decoder: MessageDecoder<Message>): RequestReader<Message>;
  /** The call is one too many, and will be refused: its connection may be given fewer. Absent where it has one at a time. */
  tooMany?(): void;
  /** Calls back when the client has gone, or a message was refused, before the call was over. */
  whenCancelled(listener: (reason: ServiceError) => void): void;
  /** Sends the headers, in a response of many messages; without effect once they were sent. */
  begin(own?: Metadata): void;
  /**
   * Sends a message after the headers; resolves when the client takes more.
   *
   * @param signal ends the wait for a client that takes nothing
   */
  send(data: Uint8Array, signal: () => AbortSignal): Promise<void>;
  /** Ends a call of many messages well. */
  succeed(trailers?: Metadata): void;
  /**
   * Sends the only message and ends the call well: what `begin`, `send` and `succeed` do, in one.
   * Throws, or rejects, where it cannot be sent; the call can fail then.
   */
  reply(data: Uint8Array, own?: Metadata, trailers?: Metadata): void | Promise<void>;
  /**
   * Ends the call with an error; without effect once it has ended. Throws where what the handler set
   * cannot be sent; the call can fail without it then.
   */
  fail(error: ServiceError, own?: Metadata, trailers?: Metadata): void;
  /** Breaks the response off, where nothing of it can be reported. Does not throw. */
  cancel(): void;
}
