import type { BoundMethod } from "../binding/bound-method.ts";
import { ServiceError } from "../error/service-error.ts";
import { WEB_FORMS, WEB_TEXT_FORM } from "../grpc-web/web-form.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RequestTarget } from "../http/request-target.ts";
import type { RpcProtocols } from "../http/rpc-protocols.ts";
import type { RpcExchange } from "../rpc/rpc-exchange.ts";
import type { ServedRpc } from "../rpc/serve-call.ts";
import { EnvelopedExchange } from "../rpc-over-http/enveloped-exchange.ts";
import type { HttpRpcSettings } from "../rpc-over-http/http-exchange.ts";
import { VERSION_HEADER } from "./connect-head.ts";
import { getRequestOf } from "./get-request.ts";
import { mayGet } from "./may-get.ts";
import { type SpokenProtocol, spokenBy } from "./spoken-protocol.ts";
import { STREAM_FORMS } from "./stream-form.ts";
import { UnaryExchange } from "./unary-exchange.ts";
import { PostedMessage } from "./unary-message.ts";

const POST: readonly string[] = ["POST"];
const GET_AND_POST: readonly string[] = ["GET", "POST"];

/** What RPCs are served by Connect and gRPC-Web. */
export interface WebProtocolsOptions extends HttpRpcSettings {
  readonly methods: readonly BoundMethod[];
  /** The RPC of a path, also one of the platform. */
  readonly find: (path: string) => ServedRpc | undefined;
}

/** Serves RPCs by Connect and gRPC-Web, at `/<package>.<Service>/<Method>`. */
export class WebProtocols implements RpcProtocols {
  readonly #options: WebProtocolsOptions;
  readonly #mayGet: ReadonlySet<string>;

  constructor(options: WebProtocolsOptions) {
    this.#options = options;
    this.#mayGet = new Set(options.methods.filter(mayGet).map(({ rpc }) => `/${rpc}`));
  }

  /** @throws ServiceError UNSUPPORTED_MEDIA_TYPE */
  serve(http: Exchange, { path, query }: RequestTarget): boolean {
    const rpc = this.#options.find(path);
    if (rpc === undefined) return false;
    const { method } = http.incoming;
    const exchange =
      method === "POST"
        ? this.#posted(http, path, rpc)
        : (method === "GET" || method === "HEAD") && this.#mayGet.has(path)
          ? this.#got(http, path, query)
          : undefined;
    if (exchange === undefined) return false;
    void rpc.serve(exchange);
    return true;
  }

  methods(path: string): readonly string[] {
    if (this.#mayGet.has(path)) return GET_AND_POST;
    return this.#options.find(path) === undefined ? [] : POST;
  }

  #posted(http: Exchange, path: string, { isStreaming }: ServedRpc): RpcExchange | undefined {
    const types = http.headers.all("content-type");
    const spoken = types.length === 1 ? spokenBy(types[0] as string) : undefined;
    if (spoken === undefined) return undefined;
    const settings = this.#options;
    const { name, codec } = spoken;
    if (name === "unary") {
      if (codec === "json" && http.headers.all(VERSION_HEADER).length === 0) return undefined;
      if (isStreaming) throw otherKind(spoken);
      return new UnaryExchange(
        http,
        path,
        codec,
        settings,
        () => new PostedMessage(http, settings.limits.maxBytes),
      );
    }
    if (name === "stream") {
      if (!isStreaming) throw otherKind(spoken);
      return new EnvelopedExchange(http, path, codec, settings, STREAM_FORMS[codec]);
    }
    const form = name === "grpc_web" ? WEB_FORMS[codec] : WEB_TEXT_FORM;
    return new EnvelopedExchange(http, path, codec, settings, form);
  }

  #got(http: Exchange, path: string, query: string): RpcExchange | undefined {
    const request = getRequestOf(query, this.#options.limits.maxBytes);
    if (request === undefined) return undefined;
    const { codec } = request;
    if (codec === undefined) {
      throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", 'encoding must be "proto" or "json"');
    }
    return new UnaryExchange(http, path, codec, this.#options, () => request.message());
  }
}

function otherKind({ name }: SpokenProtocol): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    name === "unary"
      ? "an RPC with streams is called as application/connect+proto or application/connect+json"
      : "an RPC without streams is called as application/proto or application/json",
  );
}
