import type { BoundMethod } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import type { ServiceError } from "../../error/service-error.ts";
import type { ErrorContent, Exchange } from "../exchange/exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/** A request that was routed. */
export interface RoutedRequest extends RequestTarget {
  readonly exchange: Exchange;
  /** The segments of the path, as they were sent. */
  readonly segments: readonly string[];
}

/** Serves the calls of one route; created at the start. */
export interface RouteService {
  readonly method: BoundMethod;
  /** The template of its path. */
  readonly path: string;
  /** Reads the request when the chain needs it. */
  read(request: RoutedRequest): unknown;
  /** Encodes a response message within the chain, so that what cannot be encoded is an error of the call. */
  encode?(response: unknown, call: Call): unknown;
  /** Sends the response of the chain. */
  write(exchange: Exchange, response: unknown): void | Promise<void>;
  /**
   * Renders an error in a form of its own, and changes the headers that every error has; absent, or
   * with undefined, errors have the form of the server. It may throw.
   */
  errorForm?(exchange: Exchange, error: ServiceError, headers: string[]): ErrorContent | undefined;
}

/**
 * Serves RPCs at their full method names by further protocols. Requests are recognised by their
 * content type and headers; all others are for the routes.
 */
export interface RpcProtocols {
  /**
   * Serves a request of one of these protocols; returns false for others.
   *
   * @throws ServiceError for a request of a protocol that this RPC does not support
   */
  serve(exchange: Exchange, target: RequestTarget): boolean;
  /** Whether the headers are of one of these protocols, also in a form of it that is not known. */
  isSpokenIn(headers: CallHeaders): boolean;
  /** The methods that a path supports for these protocols; none if it is not an RPC's. */
  methods(path: string): readonly string[];
}
