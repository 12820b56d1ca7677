import type {
  Http2Server,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
} from "node:http2";
import type { Server, ServerCredentials } from "@grpc/grpc-js";
import { requestIdOf } from "../call/request-id.ts";
import type { UnroutedObserver } from "../operation/unrouted-request.ts";
import { StartUpError } from "../server/start-up-error.ts";
import { type ConnectionLimits, http2OptionsOf } from "./connection-limits.ts";
import { GrpcHeaders } from "./grpc-headers.ts";
import { peerOf } from "./grpc-peer.ts";
import { ENCODING_HEADER, isKnownEncoding } from "./message-encoding.ts";
import type { Respond } from "./response-writer.ts";

/** What is known of a call when its headers have come. */
export interface Arrival {
  readonly stream: ServerHttp2Stream;
  readonly path: string;
  /** As they came over the wire. */
  readonly headers: GrpcHeaders;
  /** Sends the headers of the response. */
  readonly respond: Respond;
  /** Whoever serves the call is told here of what grpc-js refuses, and answers instead of it. */
  onRefusal: ((grpcStatus: unknown) => void) | undefined;
}

/** The path that calls of what there is not are served at. */
export const UNKNOWN_PATH = "/";

/** `application/grpc`, also with the name of the codec, and with parameters. */
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;

/** The two private members of grpc-js's server that the guard stands on. */
interface Seam {
  commonServerOptions?: object;
  createHttp2Server?: (credentials: ServerCredentials) => Http2Server;
}

type StreamListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: readonly string[],
) => void;

/**
 * Stands between Node's HTTP/2 server and that of grpc-js, which joins or drops duplicate
 * metadata, drops (and logs) what is not ASCII, reads a malformed deadline as it likes, and
 * cannot pass on the limits of HTTP/2.
 *
 * grpc-js has no public place for this. The guard wraps the private `createHttp2Server`, adds to
 * the private `commonServerOptions`, and takes over the one listener of `stream`; with a
 * version of grpc-js that has moved these, it refuses to start.
 */
export class StreamGuard {
  readonly #isServed: (path: string) => boolean;
  readonly #onUnrouted: UnroutedObserver | undefined;
  /** That of the event under way; its handler is called within it. */
  #arrival: Arrival | undefined;
  #draining = false;

  /**
   * @param server before it is bound or has an injector
   * @param isServed whether a path is that of an RPC
   * @param onUnrouted is told of what is no gRPC
   * @throws StartUpError
   */
  constructor(
    server: Server,
    limits: ConnectionLimits,
    isServed: (path: string) => boolean,
    onUnrouted?: UnroutedObserver,
  ) {
    this.#isServed = isServed;
    this.#onUnrouted = onUnrouted;
    const seam = server as unknown as Seam;
    const create = seam.createHttp2Server;
    if (typeof create !== "function" || typeof seam.commonServerOptions !== "object") {
      throw moved("createHttp2Server or commonServerOptions");
    }
    Object.assign(seam.commonServerOptions, http2OptionsOf(limits));
    seam.createHttp2Server = (credentials) => {
      const http2Server = create.call(server, credentials);
      this.#takeOver(http2Server);
      return http2Server;
    };
  }

  /** The arrival that a handler is called for: within the event, and once. */
  take(): Arrival | undefined {
    const arrival = this.#arrival;
    this.#arrival = undefined;
    return arrival;
  }

  /** Has connections that were accepted and not yet set up end too; grpc-js ends those that were. */
  drain(): void {
    this.#draining = true;
  }

  #takeOver(http2Server: Http2Server): void {
    const [listener, ...others] = http2Server.listeners("stream");
    if (listener === undefined || others.length > 0) throw moved("the listener of streams");
    const serve = listener as StreamListener;
    http2Server.removeAllListeners("stream");
    http2Server.on("session", (session) => {
      if (this.#draining) session.close();
    });
    // The types of Node leave out the raw header list, which its documentation has.
    http2Server.on("stream", ((stream, headers, flags, raw) => {
      // An error of one stream concerns that one only; it closes.
      stream.on("error", ignore);
      if (headers[":method"] !== "POST") {
        return this.#refuse(stream, headers, raw, 405, "METHOD_NOT_ALLOWED");
      }
      if (!CONTENT_TYPE.test(headers["content-type"] ?? "")) {
        return this.#refuse(stream, headers, raw, 415, "UNSUPPORTED_MEDIA_TYPE");
      }
      this.#serve(serve, stream, headers, flags, raw);
    }) as StreamListener as (stream: ServerHttp2Stream) => void);
  }

  #serve(
    serve: StreamListener,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    raw: readonly string[],
  ): void {
    const path = headers[":path"] ?? "";
    // Nothing else of the client's: grpc-js would join, drop or log it.
    const passedOn: IncomingHttpHeaders = {
      ":path": this.#isServed(path) ? path : UNKNOWN_PATH,
      "content-type": "application/grpc",
      [ENCODING_HEADER]: packingOf(headers[ENCODING_HEADER]),
    };
    // An encoding that is not known is refused by the handler. The deadline is the chain's.
    const respond: Respond = stream.respond;
    const arrival: Arrival = {
      stream,
      path,
      headers: new GrpcHeaders(raw),
      respond,
      onRefusal: undefined,
    };
    stream.respond = (told, options) => {
      if (arrival.onRefusal === undefined) respond.call(stream, told, options);
      else arrival.onRefusal((told as OutgoingHttpHeaders | undefined)?.["grpc-status"]);
    };
    this.#arrival = arrival;
    serve(stream, passedOn, flags, raw);
    this.#arrival = undefined;
  }

  /** What is no gRPC is told so in plain HTTP. */
  #refuse(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
    status: number,
    code: string,
  ): void {
    stream.respond({ ":status": status }, { endStream: true });
    this.#onUnrouted?.({
      transport: "grpc",
      httpMethod: headers[":method"] ?? "",
      target: headers[":path"] ?? "",
      status,
      code,
      requestId: requestIdOf(new GrpcHeaders(raw)),
      peer: peerOf(stream.session as Parameters<typeof peerOf>[0]),
    });
  }
}

function ignore(): void {}

/**
 * How messages are unpacked that say that they are packed. Where the client has not said how,
 * grpc-js would take them as they are; an encoding that it does not know makes it refuse them.
 */
function packingOf(encoding: unknown): string {
  return isKnownEncoding(encoding) && encoding !== "identity" ? encoding : "none";
}

function moved(what: string): StartUpError {
  return new StartUpError([
    `this version of @grpc/grpc-js does not have ${what} where gRPC calls are checked: install the version that svc-access was made with`,
  ]);
}
