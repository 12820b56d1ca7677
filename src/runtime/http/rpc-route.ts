import type { DescMethod, Message, Registry } from "@bufbuild/protobuf";
import { type BoundMethod, streamsRequest, streamsResponse } from "../binding/bound-method.ts";
import { ServiceError } from "../error/service-error.ts";
import type { HttpRoute } from "../service-binding.ts";
import type { Exchange } from "./exchange.ts";
import { declaresBody, readBody } from "./read-body.ts";
import { compileRequest, type RequestParts } from "./request-decoder.ts";
import { compileResponse } from "./response-encoder.ts";
import type { Arrival, RouteService } from "./route-service.ts";
import { sendStream } from "./stream-response.ts";

/**
 * Compiles a route of an RPC: all that its messages say about it is worked out here, once.
 *
 * @throws Error where the route does not fit the messages
 */
export function compileRpcRoute(
  method: BoundMethod,
  route: HttpRoute,
  { input, output }: DescMethod,
  registry: Registry,
  maxBodyBytes: number,
): RouteService {
  if (streamsRequest(method)) return withoutHttpForm(method);
  const decode = compileRequest(route, input, registry);
  const encode = compileResponse(route.responseBody, output, registry);
  const read = (arrival: Arrival): unknown => decode(new ArrivalParts(arrival, maxBodyBytes));
  if (streamsResponse(method)) {
    return {
      method,
      read,
      write: (exchange, response) =>
        sendStream(exchange, response as AsyncIterable<unknown>, encode),
    };
  }
  return {
    method,
    read,
    write: (exchange, response) => exchange.sendJson(encode(response as Message)),
  };
}

/** A stream of requests has no form in HTTP and JSON; callers are identified first all the same. */
function withoutHttpForm(method: BoundMethod): RouteService {
  const refuse = (): never => {
    throw new ServiceError(
      "UNIMPLEMENTED",
      `${method.rpc} takes a stream, so it is served as gRPC only`,
    );
  };
  return { method, read: refuse, write: refuse };
}

class ArrivalParts implements RequestParts {
  readonly #arrival: Arrival;
  readonly #limit: number;

  constructor(arrival: Arrival, limit: number) {
    this.#arrival = arrival;
    this.#limit = limit;
  }

  get segments(): readonly string[] {
    return this.#arrival.segments;
  }

  get query(): string {
    return this.#arrival.query;
  }

  get headers(): Exchange["headers"] {
    return this.#arrival.exchange.headers;
  }

  get hasBody(): boolean {
    return declaresBody(this.#arrival.exchange.incoming);
  }

  readBody(): Promise<Buffer> {
    return readBodyOf(this.#arrival.exchange, this.#limit);
  }
}

/** Reads the body of an exchange, until its call is over. */
export function readBodyOf(exchange: Exchange, limit: number): Promise<Buffer> {
  const { incoming, response } = exchange;
  const isOver = (): boolean => exchange.call?.abortReason !== undefined;
  return readBody({ incoming, response, limit, isOver });
}
