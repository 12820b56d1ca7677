import type { BoundMethod } from "../binding/bound-method.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/** A request that was routed. */
export interface Arrival extends RequestTarget {
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
  read(arrival: Arrival): unknown;
  /** Encodes a response message within the chain, so that what cannot be encoded is an error of the call. */
  encode?(response: unknown): unknown;
  /** Sends what the chain gave. */
  write(exchange: Exchange, response: unknown): void | Promise<void>;
}
