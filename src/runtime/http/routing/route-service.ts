import type { BoundMethod } from "../../binding/bound-method.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/** A request that was routed. */
export interface RoutedRequest extends RequestTarget {
  readonly exchange: Exchange;
  /** The segments of the path, as they were sent. */
  readonly segments: readonly string[];
}

/** What serves the calls of one route; made at start-up. */
export interface RouteService {
  readonly method: BoundMethod;
  /** The template of its path. */
  readonly path: string;
  /** Reads the request, once the chain asks for it. */
  read(request: RoutedRequest): unknown;
  /** Encodes a response message within the chain, so that what cannot be encoded is an error of the call. */
  encode?(response: unknown): unknown;
  /** Sends what the chain gave. */
  write(exchange: Exchange, response: unknown): void | Promise<void>;
}

/**
 * What serves RPCs at their full method names by protocols of their own. Requests are distinguished by
 * what they say of their content; all others are for the routes.
 */
export interface RpcProtocols {
  /**
   * Serves a request that is of such a protocol; false for all others.
   *
   * @throws ServiceError for one that such a protocol has, but not for this RPC
   */
  serve(exchange: Exchange, target: RequestTarget): boolean;
  /** The methods that a path takes for these protocols; none where it is not an RPC's. */
  methods(path: string): readonly string[];
}
