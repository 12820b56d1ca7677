import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { type ExchangeSettings, GrpcExchange } from "./grpc-exchange.ts";
import { GrpcHeaders } from "./grpc-headers.ts";
import { peerOf } from "./grpc-peer.ts";
import type { GrpcServerOptions } from "./grpc-server-options.ts";
import { healthMethods } from "./platform/health.ts";
import type { PlatformMethod } from "./platform/platform-method.ts";
import { reflectionMethods } from "./platform/reflection.ts";
import { serveCall } from "./serve-call.ts";

/** `application/grpc`, also with the name of the codec, and with parameters. */
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;

type Endpoint = (exchange: GrpcExchange) => Promise<void>;

/** Finds out what a stream is a call of, and has it served. */
export class Dispatcher {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #settings: ExchangeSettings;
  /** Calls of the platform under way: some would go on for ever. */
  readonly #platformCalls = new Set<AbortController>();
  #draining = false;

  constructor(options: GrpcServerOptions) {
    const { chain, config, logger } = options;
    this.#settings = { domain: options.service, maxMessageBytes: config.max_message_bytes };
    const onDefect = (error: unknown, rpc: string) =>
      logger?.error({ err: error, rpc }, "the response of a call could not be sent");
    const services = new Set<DescService>();
    for (const method of options.methods) {
      if (method.descriptor === undefined) continue;
      services.add(method.descriptor.parent);
      this.#endpoints.set(`/${method.rpc}`, (exchange) =>
        serveCall(exchange, method, chain, onDefect),
      );
    }
    const names = [...services].map(({ typeName }) => typeName);
    const isReady = () => !this.#draining && options.isReady();
    const platform = [...healthMethods(names, isReady)];
    if (config.reflection) platform.push(...reflectionMethods([...services]));
    for (const method of platform) this.#addPlatform(method);
  }

  /** Has endless calls of the platform end, and health say so. */
  drain(): void {
    this.#draining = true;
    for (const call of this.#platformCalls) call.abort();
  }

  async serve(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): Promise<void> {
    if (headers[":method"] !== "POST") return refuse(stream, 405);
    if (!CONTENT_TYPE.test(headers["content-type"] ?? "")) return refuse(stream, 415);
    const exchange = new GrpcExchange(
      stream,
      new GrpcHeaders(raw),
      peerOf(stream.session as Parameters<typeof peerOf>[0]),
      this.#settings,
    );
    try {
      const endpoint = this.#endpoints.get(headers[":path"] ?? "");
      if (endpoint === undefined) throw new ServiceError("UNIMPLEMENTED", "there is no such RPC");
      await endpoint(exchange);
    } catch (error) {
      exchange.fail(toServiceError(error));
    }
  }

  #addPlatform({ path, serve }: PlatformMethod): void {
    this.#endpoints.set(path, async (exchange) => {
      const call = new AbortController();
      this.#platformCalls.add(call);
      exchange.onCancel(() => call.abort());
      if (this.#draining) call.abort();
      try {
        await serve(exchange, call.signal);
      } finally {
        this.#platformCalls.delete(call);
      }
    });
  }
}

/** What is no gRPC is told so in plain HTTP. */
function refuse(stream: ServerHttp2Stream, httpStatus: number): void {
  stream.respond({ ":status": httpStatus }, { endStream: true });
}
