import type { RequestReader, RpcExchange } from "../../rpc/rpc-exchange.ts";
import type { CallQuota } from "./built-in-limits.ts";

/**
 * The messages of a call, each in the binary encoding of protobuf, regardless of the client's
 * encoding.
 */
export interface BuiltInExchange extends Pick<RpcExchange, "send" | "succeed"> {
  reader(): RequestReader<Uint8Array>;
  reply(data: Uint8Array): void | Promise<void>;
}

/**
 * An RPC that is built into the runtime, such as health: served without the policy chain, from the
 * bytes of its messages.
 */
export interface BuiltInMethod {
  /** The path, such as `/grpc.health.v1.Health/Check`. */
  readonly path: string;
  /**
   * For long calls: how many there may be, and how long. Other calls have the time limit of a unary
   * request.
   */
  readonly quota?: CallQuota;
  /** Serves a call, including its status. An error that it throws becomes the status. */
  serve(exchange: BuiltInExchange, call: OngoingCall): Promise<void>;
}

/** The limits of a call, for its handler. */
export interface OngoingCall {
  /**
   * Aborts when the client has disconnected, the time is up or the server drains; its reason is the error
   * for the caller.
   */
  readonly signal: AbortSignal;
  /**
   * To be called when a message has arrived, or was read.
   *
   * @throws ServiceError RATE_LIMITED if there are too many of these calls
   */
  received(): void;
}
