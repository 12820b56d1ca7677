import { METHODS } from "node:http";
import type { DescMethod, Message, Registry } from "@bufbuild/protobuf";
import type { BoundMethod } from "../binding/bound-method.ts";
import { streamsRequest, streamsResponse } from "../binding/method-kind.ts";
import { ServiceError } from "../error/service-error.ts";
import type { MessageLimits } from "../json/element-budget.ts";
import { StartUpError } from "../server/start-up-error.ts";
import type { HttpRoute } from "../service-binding.ts";
import type { MessageMemory } from "../wire/message-budget.ts";
import type { Exchange } from "./exchange.ts";
import { declaresBody, readBody } from "./read-body.ts";
import { compileRequest } from "./request-decoder.ts";
import type { RequestParts } from "./request-parts.ts";
import { compileResponse, type EncodedResponse } from "./response-encoder.ts";
import type { Arrival, RouteService } from "./route-service.ts";
import { sendBytes, sendLines } from "./stream-response.ts";

/** The methods that Node can read, but for the one that it hands to proxies. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(
  ["*", ...METHODS].filter((method) => method !== "CONNECT"),
);

/** How much a request of a route may hold. */
export interface RouteLimits extends MessageLimits {
  readonly maxBodyBytes: number;
}

/**
 * Compiles a route of an RPC: all that its messages say about it is worked out here, once.
 *
 * @throws StartUpError where the route does not fit the messages
 */
export function compileRpcRoute(
  method: BoundMethod,
  route: HttpRoute,
  { input, output }: DescMethod,
  registry: Registry,
  limits: RouteLimits,
): RouteService {
  if (!KNOWN_METHODS.has(route.method)) {
    throw new StartUpError([
      `${route.method} ${route.path} of ${route.rpc}: this server can read no request with that method; choose one such as POST`,
    ]);
  }
  const { path } = route;
  if (streamsRequest(method.kind)) return withoutHttpForm(method, path);
  const decode = compileRequest(route, input, registry, limits);
  const { isRaw, encode } = compileResponse(route.responseBody, output, registry);
  const encodeMessage = (response: unknown) => encode(response as Message);
  const read = (arrival: Arrival): unknown => decode(new ArrivalParts(arrival, limits));
  if (streamsResponse(method.kind)) {
    const send = isRaw ? sendBytes : sendLines;
    return {
      method,
      path,
      read,
      encode: encodeMessage,
      write: (exchange, response) => send(exchange, response as AsyncIterable<EncodedResponse>),
    };
  }
  return {
    method,
    path,
    read,
    encode: encodeMessage,
    write: (exchange, response) => exchange.sendEncoded(response as EncodedResponse),
  };
}

/** A stream of requests has no form in HTTP and JSON; callers are identified first all the same. */
function withoutHttpForm(method: BoundMethod, path: string): RouteService {
  const refuse = (): never => {
    throw new ServiceError(
      "UNIMPLEMENTED",
      `${method.rpc} takes a stream, which HTTP and JSON have no form for: call it by gRPC, or as application/connect+json`,
    );
  };
  return { method, path, read: refuse, write: refuse };
}

class ArrivalParts implements RequestParts {
  readonly #arrival: Arrival;
  readonly #limits: RouteLimits;

  constructor(arrival: Arrival, limits: RouteLimits) {
    this.#arrival = arrival;
    this.#limits = limits;
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

  get memory(): MessageMemory {
    return this.#arrival.exchange.account;
  }

  readBody(): Promise<Buffer> {
    return readBodyOf(this.#arrival.exchange, this.#limits.maxBodyBytes);
  }
}

/** Reads the body of an exchange, until its call is over. */
export function readBodyOf(exchange: Exchange, limit: number): Promise<Buffer> {
  const { incoming, response, account } = exchange;
  return readBody({ incoming, response, limit, account });
}
