import type { DescService } from "@bufbuild/protobuf";
import {
  type MethodDefinition,
  type Server,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from "@grpc/grpc-js";
import { status } from "../error/grpc-status.ts";
import { ServiceError } from "../error/service-error.ts";
import { type ExchangeSettings, GrpcExchange } from "./grpc-exchange.ts";
import type { GrpcServerOptions } from "./grpc-server-options.ts";
import { healthMethods } from "./platform/health.ts";
import { PlatformCalls } from "./platform/platform-calls.ts";
import { DEFAULT_PLATFORM_LIMITS } from "./platform/platform-limits.ts";
import { reflectionMethods } from "./platform/reflection.ts";
import { serveCall } from "./serve-call.ts";
import { type StreamGuard, UNKNOWN_PATH } from "./stream-guard.ts";

/** Answers a call, to its status; does not throw or reject. */
type Endpoint = (exchange: GrpcExchange) => void | Promise<void>;

/** All that a server serves, by path: the RPCs, health and reflection. */
export class GrpcMethods {
  readonly #exchange: ExchangeSettings;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #platform: PlatformCalls;
  #draining = false;

  constructor(options: GrpcServerOptions) {
    const { chain, config, logger } = options;
    this.#exchange = { domain: options.service, compression: config.compression };
    const settings = {
      chain,
      maxMessageBytes: config.max_message_bytes,
      onDefect: (error: unknown, rpc: string) =>
        logger?.error({ err: error, rpc }, "the response of a call could not be sent"),
    };
    const services = new Set<DescService>();
    for (const method of options.methods) {
      if (method.descriptor === undefined) continue;
      services.add(method.descriptor.parent);
      this.#endpoints.set(`/${method.rpc}`, (exchange) => serveCall(exchange, method, settings));
    }
    const names = [...services].map(({ typeName }) => typeName);
    const isReady = () => !this.#draining && options.isReady();
    const limits = { ...DEFAULT_PLATFORM_LIMITS, ...options.platform };
    this.#platform = new PlatformCalls(limits);
    const platform = [...healthMethods(names, isReady, limits)];
    if (config.reflection) platform.push(...reflectionMethods([...services], limits));
    for (const method of platform) {
      this.#endpoints.set(method.path, (exchange) => this.#platform.serve(method, exchange));
    }
    this.#endpoints.set(UNKNOWN_PATH, (exchange) => {
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
    });
  }

  has(path: string): boolean {
    return this.#endpoints.has(path);
  }

  /** Has endless calls of the platform end, and health say so. */
  drain(): void {
    this.#draining = true;
    this.#platform.drain();
  }

  /** Adds all to a server of grpc-js that has the interceptor. */
  addTo(server: Server): void {
    const paths = [...this.#endpoints.keys()];
    server.addService(
      Object.fromEntries(paths.map((path) => [path, definitionOf(path)])),
      Object.fromEntries(paths.map((path) => [path, notCalled])),
    );
  }

  /** Serves all calls, so that none gets to a handler of grpc-js. */
  interceptorWith(guard: () => StreamGuard): ServerInterceptor {
    return ({ path }, call) => {
      const start = () => this.#serve(call, guard(), this.#endpoints.get(path) as Endpoint);
      return new ServedCall(call, start);
    };
  }

  #serve(call: ServerInterceptingCallInterface, guard: StreamGuard, endpoint: Endpoint): void {
    const arrival = guard.take();
    // What did not come by the guard was not checked.
    if (arrival === undefined) {
      return call.sendStatus({ code: status.INTERNAL, details: "internal error" });
    }
    const exchange = new GrpcExchange(call, arrival, this.#exchange);
    call.start(exchange);
    void endpoint(exchange);
  }
}

/**
 * All kinds are streams both ways to grpc-js: how many messages there are is checked here.
 * They stay bytes, as the chain says when they are decoded.
 */
function definitionOf(path: string): MethodDefinition<Uint8Array, Uint8Array> {
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: bufferOf,
    requestDeserialize: (data) => data,
    responseSerialize: bufferOf,
    responseDeserialize: (data) => data,
  };
}

/** A call that is not handed on to a handler of grpc-js. */
class ServedCall extends ServerInterceptingCall {
  readonly #start: () => void;

  constructor(call: ServerInterceptingCallInterface, start: () => void) {
    super(call);
    this.#start = start;
  }

  override start(): void {
    this.#start();
  }
}

function notCalled(): never {
  throw new Error("the interceptor serves all calls");
}

function bufferOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.length);
}
