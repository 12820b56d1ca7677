import { METHODS } from "node:http";
import type { DescMethod, Message, Registry } from "@bufbuild/protobuf";
import { type BoundMethod, streamsRequest, streamsResponse } from "../../binding/bound-method.ts";
import type { HttpRoute } from "../../binding/service-binding.ts";
import { ServiceError } from "../../error/service-error.ts";
import { StartUpError } from "../../error/start-up-error.ts";
import type { ElementLimits } from "../../json/element-budget.ts";
import type { MessageMemory } from "../../wire/message-budget.ts";
import { responsesOfTurn } from "../../wire/turn-budget.ts";
import { COUNTED_FROM_BYTES } from "../../wire/unread-responses.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { declaresBody, readBody } from "../exchange/read-body.ts";
import { sendBytes, sendLines } from "../exchange/stream-response.ts";
import { compileRequest, type RequestParts } from "../transcoding/request-decoder.ts";
import { compileResponse, type EncodedResponse } from "../transcoding/response-encoder.ts";
import type { RoutedRequest, RouteService } from "./route-service.ts";

/** The methods that Node can read, except CONNECT, which is for proxies. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(
  ["*", ...METHODS].filter((method) => method !== "CONNECT"),
);

/** The limits of a request of a route. */
export interface RouteLimits extends ElementLimits {
  readonly maxBodyBytes: number;
}

/**
 * Compiles a route of an RPC: everything that depends on its messages is computed here, once.
 *
 * @throws StartUpError if the route does not fit the messages
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
      `${route.method} ${route.path} of ${route.rpc}: this server cannot read requests with that method; choose one such as POST`,
    ]);
  }
  const { path } = route;
  if (streamsRequest(method.kind)) return withoutHttpForm(method, path);
  const decode = compileRequest(route, input, registry, limits);
  const { isRaw, encode } = compileResponse(route.responseBody, output, registry);
  const encodeMessage = (response: unknown): EncodedResponse => {
    const encoded = encode(response as Message);
    const { length } = encoded.body;
    if (length >= COUNTED_FROM_BYTES) responsesOfTurn.spend(length, method);
    return encoded;
  };
  const read = (routed: RoutedRequest): unknown => decode(new RoutedRequestParts(routed, limits));
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

/** A request stream has no form in HTTP and JSON; callers are authenticated first all the same. */
function withoutHttpForm(method: BoundMethod, path: string): RouteService {
  const refuse = (): never => {
    throw new ServiceError(
      "UNIMPLEMENTED",
      `${method.rpc} takes a request stream, which routes do not support: call it over gRPC, or as application/connect+json`,
    );
  };
  return { method, path, read: refuse, write: refuse };
}

class RoutedRequestParts implements RequestParts {
  readonly #routed: RoutedRequest;
  readonly #limits: RouteLimits;

  constructor(routed: RoutedRequest, limits: RouteLimits) {
    this.#routed = routed;
    this.#limits = limits;
  }

  get segments(): readonly string[] {
    return this.#routed.segments;
  }

  get query(): string {
    return this.#routed.query;
  }

  get headers(): Exchange["headers"] {
    return this.#routed.exchange.headers;
  }

  get hasBody(): boolean {
    return declaresBody(this.#routed.exchange.incoming);
  }

  get memory(): MessageMemory {
    return this.#routed.exchange.account;
  }

  readBody(): Promise<Buffer> {
    return readBodyOf(this.#routed.exchange, this.#limits.maxBodyBytes);
  }
}

/** Reads the body of an exchange, until its call is over. */
export function readBodyOf(exchange: Exchange, limit: number): Promise<Buffer> {
  const { incoming, response, account } = exchange;
  return readBody({ incoming, response, limit, account });
}
