import type { GrpcExchange } from "../grpc-exchange.ts";

/** An RPC of the platform itself, such as health: served without the policy chain, from the bytes of its messages. */
export interface PlatformMethod {
  /** The path, such as `/grpc.health.v1.Health/Check`. */
  readonly path: string;
  /**
   * Answers a call, to its status. What it throws becomes the status.
   *
   * @param signal aborts when the client has gone or the server drains
   */
  serve(exchange: GrpcExchange, signal: AbortSignal): Promise<void>;
}
