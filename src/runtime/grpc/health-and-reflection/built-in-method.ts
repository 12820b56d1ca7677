import type { RequestReader, RpcExchange } from "../../rpc/rpc-exchange.ts";
import type { CallQuota } from "./call-quota.ts";

/** The messages of a call, each in the binary encoding of protobuf, however the client has them. */
export interface BuiltInExchange extends Pick<RpcExchange, "send" | "succeed"> {
  reader(): RequestReader<Uint8Array>;
  reply(data: Uint8Array): void | Promise<void>;
}

/** An RPC that the runtime has built in, such as health: served without the policy chain, from the bytes of its messages. */
export interface BuiltInMethod {
  /** The path, such as `/grpc.health.v1.Health/Check`. */
  readonly path: string;
  /** Where calls last: how many there may be, and how long. Others end as soon as a unary request must have come. */
  readonly quota?: CallQuota;
  /** Answers a call, to its status. What it throws becomes the status. */
  serve(exchange: BuiltInExchange, call: OngoingCall): Promise<void>;
}

/** What the one who serves a call sees of its bounds. */
export interface OngoingCall {
  /** Aborts when the client has gone, the time is up or the server drains; its reason is what the caller is sent. */
  readonly signal: AbortSignal;
  /**
   * To be called when a message has come, or was taken.
   *
   * @throws ServiceError RATE_LIMITED where there are too many such calls
   */
  heard(): void;
}
