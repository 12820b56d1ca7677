import type { DescService, Registry } from "@bufbuild/protobuf";
import type { Logger } from "../../common/logger.ts";
import { type BoundMethod, isStreaming as isStreamingKind } from "../binding/bound-method.ts";
import type { UnroutedObserver } from "../chain/call-stages.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { DEFAULT_MAX_MESSAGE_ELEMENTS } from "../configuration/server-config.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { ServiceError } from "../error/service-error.ts";
import type { ArrivedStream } from "../http2/http2-connection.ts";
import type { Http2Headers } from "../http2/http2-headers.ts";
import { messageRegistry } from "../json/json-text.ts";
import { type Endpoint, endpointOf, type ServedRpc } from "../rpc/serve-call.ts";
import { type ExchangeSettings, GrpcExchange } from "./grpc-exchange.ts";
import { BuiltInCalls } from "./health-and-reflection/built-in-calls.ts";
import {
  type BuiltInLimits,
  DEFAULT_BUILT_IN_LIMITS,
} from "./health-and-reflection/built-in-limits.ts";
import { healthMethods } from "./health-and-reflection/health.ts";
import { reflectionMethods } from "./health-and-reflection/reflection.ts";

/** The part `server.grpc` of a service's configuration. */
export type GrpcServerConfig = NonNullable<ServiceConfig["server"]["grpc"]>;

/** How RPCs are served by gRPC. */
export interface ServedRpcsOptions {
  readonly chain: ServerChain;
  /** The RPCs that it serves. */
  readonly methods: readonly BoundMethod[];
  readonly config: Required<
    Pick<GrpcServerConfig, "max_message_bytes" | "compression" | "reflection">
  >;
  /** The name of the deployed service: the domain of its errors; undefined if these have no `ErrorInfo`. */
  readonly service: string | undefined;
  /** The status for the health service. */
  readonly isReady: () => boolean;
  /** Called for requests that are not calls of an RPC. Never throws. */
  readonly onUnrouted?: UnroutedObserver | undefined;
  /** Logs errors of the server itself, not of calls. */
  readonly logger?: Logger;
  /** The limits of health and reflection calls. */
  readonly builtIn?: Partial<BuiltInLimits>;
  /** The most elements of a request message. */
  readonly maxElements?: number;
  /** The most bytes of a response message; the limit of requests if absent. */
  readonly maxResponseBytes?: number;
}

/** `application/grpc`, also with the name of the codec, and with parameters. */
const CONTENT_TYPE = /^application\/grpc(\+(proto|json))?\s*(;|$)/i;

/** Whether a content type is that of gRPC; that of gRPC-Web is not. */
export function isGrpc(contentType: string | undefined): boolean {
  return contentType !== undefined && CONTENT_TYPE.test(contentType);
}

/**
 * All the RPCs that a server serves, by path, with health and reflection: by gRPC here, and by the
 * other protocols, which look them up here.
 */
export class ServedRpcs {
  readonly #exchange: ExchangeSettings;
  readonly #endpoints = new Map<string, ServedRpc>();
  readonly #unknown: Endpoint;
  readonly #builtIn: BuiltInCalls;
  #draining = false;

  constructor(options: ServedRpcsOptions) {
    const { chain, config, logger, maxElements = DEFAULT_MAX_MESSAGE_ELEMENTS } = options;
    const maxBytes = config.max_message_bytes;
    const limits = {
      maxBytes,
      maxElements,
      maxResponseBytes: options.maxResponseBytes ?? maxBytes,
    };
    this.#exchange = {
      domain: options.service,
      compression: config.compression,
      maxMessageBytes: limits.maxBytes,
    };
    let registry: Registry | undefined;
    const settings = {
      chain,
      registry: () => (registry ??= messageRegistry(options.methods)),
      onDefect: (error: unknown, rpc: string) =>
        logger?.error({ error, rpc }, "the response of a call could not be sent"),
    };
    const services = new Set<DescService>();
    for (const method of options.methods) {
      if (method.descriptor === undefined) continue;
      services.add(method.descriptor.parent);
      const serve = endpointOf(method, settings, limits);
      const isStreaming = isStreamingKind(method.kind);
      this.#endpoints.set(`/${method.rpc}`, { serve, isStreaming, method });
    }
    const names = [...services].map(({ typeName }) => typeName);
    const isReady = () => !this.#draining && options.isReady();
    const builtInLimits = { ...DEFAULT_BUILT_IN_LIMITS, ...options.builtIn };
    this.#builtIn = new BuiltInCalls(builtInLimits, limits);
    const builtIn = [...healthMethods(names, isReady, builtInLimits)];
    if (config.reflection) builtIn.push(...reflectionMethods([...services], builtInLimits));
    for (const method of builtIn) {
      this.#endpoints.set(method.path, {
        serve: (exchange) => this.#builtIn.serve(method, exchange),
        isStreaming: method.quota !== undefined,
        method: undefined,
      });
    }
    this.#unknown = (exchange) => {
      const { path, peer, requestId } = exchange;
      const error = new ServiceError("UNIMPLEMENTED", "there is no such RPC");
      options.onUnrouted?.({
        transport: "grpc",
        httpMethod: "POST",
        target: path,
        status: 200,
        code: error.code,
        requestId,
        peer,
      });
      exchange.fail(error);
    };
  }

  /** Serves a stream that is a gRPC call. */
  serve(arrived: ArrivedStream, headers: Http2Headers): void {
    const path = headers.pseudo(":path");
    const exchange = new GrpcExchange(arrived, path, headers, this.#exchange);
    void (this.#endpoints.get(path)?.serve ?? this.#unknown)(exchange);
  }

  /** The RPC of a path, for other protocols; undefined if there is none. */
  find(path: string): ServedRpc | undefined {
    return this.#endpoints.get(path);
  }

  /** Ends long calls of built-in RPCs, and reports the shutdown in health. */
  drain(): void {
    this.#draining = true;
    this.#builtIn.drain();
  }
}
