import type { Exchange } from "./exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/**
 * What serves RPCs at their full method names by protocols of their own. Requests are told apart by
 * what they say of their content; all others are for the routes.
 */
export interface RpcProtocols {
  /**
   * Serves a request that is of such a protocol; false for all others.
   *
   * @throws ServiceError for one that such a protocol has, but not for this RPC
   */
  serve(exchange: Exchange, target: RequestTarget): boolean;
  /** The methods that a path takes for these protocols; none where it is no RPC's. */
  methods(path: string): readonly string[];
}
