import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { Call } from "../../call/call.ts";
import { type CallHeaders, HttpHeaders, single } from "../../call/call-headers.ts";
import { requestIdOf } from "../../call/call-ids.ts";
import type { UnroutedObserver } from "../../chain/call-stages.ts";
import type { ServerChain } from "../../chain/server-chain.ts";
import { ServiceError } from "../../error/service-error.ts";
import { toServiceError } from "../../error/to-service-error.ts";
import { Http2Headers } from "../../http2/http2-headers.ts";
import type { Connection } from "../exchange/connections.ts";
import { Exchange } from "../exchange/exchange.ts";
import type { ServerState } from "../exchange/server-state.ts";
import {
  originForm,
  parseTarget,
  pathAndQuery,
  type RequestTarget,
} from "../routing/request-target.ts";
import type { RouteService, RpcProtocols } from "../routing/route-service.ts";
import type { Router } from "../routing/router.ts";
import type { Probe } from "./probe.ts";
import { checkHead } from "./request-head.ts";
import { isPlainJson, notSpoken, withoutHeader, withoutQuery } from "./unspoken.ts";

/** What of a request is in the log of a response that could not be sent. */
export type FaultyCall = Pick<Call, "rpc" | "requestId">;

/** Called for responses that could not be sent, and for what else fails after the handler: `what` says so in the log. */
export type FaultObserver = (error: unknown, call: FaultyCall, what?: string) => void;

/** The options of a dispatcher. */
export interface DispatcherParts {
  readonly chain: ServerChain;
  readonly state: ServerState;
  readonly router: Router<RouteService>;
  readonly probes: readonly Probe[];
  readonly protocols: RpcProtocols | undefined;
  readonly onUnrouted: UnroutedObserver;
  readonly onFault: FaultObserver;
}

/** Makes a call of each request, and a response of the chain's result. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #probes: ReadonlyMap<string, Probe>;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#probes = new Map(parts.probes.map((probe) => [probe.path, probe]));
  }

  /**
   * Serves a request of HTTP/1; never throws.
   *
   * @param refusal the error to refuse it with, regardless of its target
   */
  dispatch(incoming: IncomingMessage, response: ServerResponse, refusal?: ServiceError): void {
    const { connections } = this.#parts.state;
    const connection = connections.of(incoming.socket);
    // The client was notified of the end, and may retry unanswered requests elsewhere.
    if (connection.isClosing) return;
    const headers = new HttpHeaders(incoming.rawHeaders);
    this.#dispatch(connection, incoming, response, headers, refusal);
  }

  /** Serves a request of HTTP/2; never throws. */
  dispatchStream(
    connection: Connection,
    incoming: IncomingMessage,
    response: ServerResponse,
    stream: ServerHttp2Stream,
  ): void {
    const headers = new Http2Headers(incoming.rawHeaders);
    const exchange = this.#dispatch(connection, incoming, response, headers);
    stream.once("close", () => {
      this.#parts.state.connections.leave(connection, exchange);
      if (!response.writableEnded) exchange.lost();
    });
  }

  #dispatch(
    connection: Connection,
    incoming: IncomingMessage,
    response: ServerResponse,
    headers: CallHeaders,
    refusal?: ServiceError,
  ): Exchange {
    const { state } = this.#parts;
    const requestId = requestIdOf(headers);
    const exchange = new Exchange(state, connection, incoming, response, headers, requestId);
    try {
      checkHead(incoming, headers, state.limits.maxHeaders, connection.isMultiplexed);
      if (refusal !== undefined) throw refusal;
      if (!connection.isMultiplexed) toOriginForm(incoming, headers);
      this.#route(exchange);
    } catch (error) {
      this.#refuse(exchange, toServiceError(error));
    }
    return exchange;
  }

  #route(exchange: Exchange): void {
    const { state, router, protocols } = this.#parts;
    const { incoming, headers } = exchange;
    const method = incoming.method as string;
    if (method === "OPTIONS" && state.cors.isPreflight(method, headers)) {
      const cors = state.cors.preflightHeaders(headers);
      if (cors === undefined) throw new ServiceError("FORBIDDEN", "the origin is not allowed");
      return this.#answer(exchange, cors);
    }
    if (method === "OPTIONS" && incoming.url === "*") {
      return this.#answer(exchange, ["Allow", router.allowAnywhere()]);
    }
    // It has no path. Over HTTP/1 Node only accepts it with a listener for tunnels.
    if (method === "CONNECT") return this.#methodMissing(exchange, method, router.allowAnywhere());
    const target = parseTarget(incoming.url as string);
    const probe = this.#probes.get(target.path);
    if (probe !== undefined) return this.#probe(exchange, probe, method);
    if (protocols?.serve(exchange, target) === true) return;
    const found = router.find(method, target.path);
    if (found !== undefined) return this.#call(exchange, found.value, target, found.segments);
    const others = protocols?.methods(target.path);
    if (others?.includes(method === "HEAD" ? "GET" : method) === true) {
      // No protocol of RPCs: a client of routes reads the error.
      if (isPlainJson(exchange)) return this.#reject(exchange, withoutHeader());
      throw method === "POST" ? notSpoken() : withoutQuery();
    }
    const allow = router.allow(target.path, others);
    if (allow === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", "no route has this path");
    this.#methodMissing(exchange, method, allow);
  }

  #call(
    exchange: Exchange,
    service: RouteService,
    target: RequestTarget,
    segments: readonly string[],
  ): void {
    const { chain } = this.#parts;
    const { path, query } = target;
    const call = new Call({
      method: service.method,
      transport: "http",
      requestId: exchange.requestId,
      headers: exchange.headers,
      peer: exchange.connection.peer,
      target: path,
      route: service.path,
      httpMethod: exchange.incoming.method as string,
      readRequest: () => service.read({ exchange, path, query, segments }),
      encodeResponse: service.encode,
    });
    exchange.call = call;
    // The form of its errors may have another status, and a response may turn out not to be one.
    call.isUnanswered = true;
    void this.#serve(chain, exchange, service, call)
      .then(() => answered(call))
      // The caller has its answer; a span that cannot be ended must not end the process.
      .catch((fault: unknown) => this.#parts.onFault(fault, call, "a call could not be traced"));
  }

  async #serve(
    chain: ServerChain,
    exchange: Exchange,
    service: RouteService,
    call: Call,
  ): Promise<void> {
    let response: unknown;
    try {
      response = await chain.run(call);
    } catch (error) {
      this.#fail(exchange, service, toServiceError(error));
      return;
    }
    try {
      // For the chain a stream is over only once it was read to its end or returned.
      if (exchange.isLost && service.method.kind !== "server_streaming") return exchange.leave();
      const written = service.write(exchange, response);
      if (written !== undefined) await written;
    } catch (error) {
      // The chain has seen a success: a response that cannot be sent is reported here.
      this.#parts.onFault(error, call);
      this.#fail(exchange, service, toServiceError(error));
    }
  }

  /** Sends an error in the form of its route, and returns the status that is sent. */
  #fail(
    exchange: Exchange,
    service: RouteService,
    error: ServiceError,
    headers: readonly string[] = [],
  ): number {
    const { requestId } = exchange;
    try {
      return exchange.fail(error, headers, (all) => service.errorForm?.(exchange, error, all));
    } catch (fault) {
      this.#parts.onFault(fault, { rpc: service.method.rpc, requestId });
      exchange.shownRequestId = undefined;
      return exchange.fail(error, headers);
    }
  }

  #probe(exchange: Exchange, probe: Probe, method: string): void {
    if (method !== "GET" && method !== "HEAD") {
      return this.#methodMissing(exchange, method, "GET, HEAD, OPTIONS");
    }
    answerProbe(exchange, probe).catch((error: unknown) => {
      exchange.fail(toServiceError(error));
    });
  }

  #methodMissing(exchange: Exchange, method: string, allow: string): void {
    if (method === "OPTIONS") return this.#answer(exchange, ["Allow", allow]);
    this.#refuse(exchange, new ServiceError("METHOD_NOT_ALLOWED"), ["Allow", allow]);
  }

  /** Responds to a request about the server itself. */
  #answer(exchange: Exchange, headers: readonly string[]): void {
    exchange.send(204, "", [...headers]);
    this.#notify(exchange, 204, undefined);
  }

  /** Refuses a request in the form of the server. */
  #reject(exchange: Exchange, error: ServiceError): void {
    exchange.fail(error);
    this.#notify(exchange, error.status, error.code);
  }

  #refuse(exchange: Exchange, error: ServiceError, headers: readonly string[] = []): void {
    const service = this.#errorFormAt(exchange);
    let { status } = error;
    // The form of a path may have another status.
    if (service !== undefined) status = this.#fail(exchange, service, error, headers);
    // A Connect client would mistake our JSON for an error of its protocol.
    else if (this.#isOfRpc(exchange)) exchange.failInText(error, headers);
    else exchange.fail(error, headers);
    this.#notify(exchange, status, error.code);
  }

  /** What renders the errors of the path of a request, which may be malformed. */
  #errorFormAt({ incoming }: Exchange): RouteService | undefined {
    const { url = "" } = incoming;
    if (!url.startsWith("/")) return undefined;
    const { path } = pathAndQuery(url);
    const { protocols, router } = this.#parts;
    // A declared prefix, such as `/`, may be above an RPC.
    if (protocols !== undefined && protocols.methods(path).length > 0) return undefined;
    const service = router.findAny(path);
    return service?.errorForm === undefined ? undefined : service;
  }

  /** Whether a request is for an RPC by its path or its headers. */
  #isOfRpc({ incoming, headers }: Exchange): boolean {
    const { protocols } = this.#parts;
    if (protocols === undefined) return false;
    if (protocols.isSpokenIn(headers)) return true;
    return protocols.methods(pathAndQuery(incoming.url ?? "").path).length > 0;
  }

  #notify({ incoming, requestId, connection }: Exchange, status: number, code: string | undefined) {
    this.#parts.onUnrouted({
      transport: "http",
      httpMethod: incoming.method ?? "",
      target: pathAndQuery(incoming.url ?? "").path,
      status,
      code,
      requestId,
      peer: connection.peer,
    });
  }
}

const SLASH = 47;

/** All that reads the target of a request, also handlers in the style of Node, gets its origin form. */
function toOriginForm(incoming: IncomingMessage, headers: CallHeaders): void {
  // Nearly all are; the rest costs each of them a look at the headers.
  if (incoming.url?.charCodeAt(0) === SLASH) return;
  const scheme = "encrypted" in incoming.socket ? "https" : "http";
  const { url = "", method = "" } = incoming;
  incoming.url = originForm(url, method, scheme, single(headers, "host"));
}

/** Responds to a probe; rejects with its error. */
async function answerProbe(exchange: Exchange, probe: Probe): Promise<void> {
  const { status, body } = await probe.handle();
  if (exchange.isLost) return exchange.leave();
  const headers = ["Content-Type", "application/json", "Cache-Control", "no-store"];
  exchange.send(status, JSON.stringify(body), headers);
}

/** The status of the response is final: it is sent, or will not be. */
function answered(call: Call): void {
  call.isUnanswered = false;
  call.onAnswered?.();
}
