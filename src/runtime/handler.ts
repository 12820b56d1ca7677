import type { CallContext } from "./call-context.ts";

/** Handles an RPC with one request and one response. */
export type UnaryHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => Promise<Response>;

/** Handles an RPC with one request and a stream of responses. */
export type ServerStreamingHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => AsyncIterable<Response>;

/** Handles an RPC with a stream of requests and one response. */
export type ClientStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => Promise<Response>;

/** Handles an RPC with a stream on both sides. */
export type BidiStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => AsyncIterable<Response>;
