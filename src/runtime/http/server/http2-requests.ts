import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createServer,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { endRequest } from "../../http2/end-request.ts";
import type { ArrivedStream, Http2Connection } from "../../http2/http2-connection.ts";

const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM;

/** Accepts an HTTP/2 request in the form of HTTP/1.1, which handlers and their libraries know. */
export type Http2Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  stream: ServerHttp2Stream,
  connection: Http2Connection,
) => void;

/**
 * Converts a stream to a request and a response as in `node:http`, with the compatibility API of
 * `node:http2`: its server does not listen, but gets its streams.
 *
 * @param listener uses only members that both have, or that the classes here add
 */
export function http2Requests(listener: Http2Listener): (arrived: ArrivedStream) => void {
  const server: Http2Server = createServer({
    Http2ServerRequest: Request,
    Http2ServerResponse: Response,
  });
  /** The session of the stream, during the event. */
  let arrived: ArrivedStream | undefined;
  const serve = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const { stream, connection } = arrived as ArrivedStream;
    // Node's types distinguish them, although they are interchangeable.
    const [incoming, outgoing] = [request, response] as unknown as [
      IncomingMessage,
      ServerResponse,
    ];
    listener(incoming, outgoing, stream, connection);
  };
  for (const event of ["request", "checkContinue", "checkExpectation", "connect"] as const) {
    server.on(event as "request", serve);
  }
  return (next) => {
    const { stream, fields, flags, headers } = next;
    if ((flags & END_STREAM) === 0) stream.once("finish", () => endRequest(stream));
    arrived = next;
    server.emit("stream", stream, fields, flags, headers);
    arrived = undefined;
  };
}

/** Corrects Node's types, which have fields where Node has accessors. */
class Request extends Http2ServerRequest {}

class Response extends Http2ServerResponse {
  /**
   * Node sends the end of a response some turns after its last bytes, as there might be trailers. A
   * client that has all by then may cut its request short, for which the stream is reset before the
   * end. So if a list of headers announces no trailers, the end is sent with the last bytes.
   */
  override writeHead(status: number, ...given: unknown[]): this {
    const [list] = given;
    const isSimple = Array.isArray(list) && !Array.isArray(list[0]) && this.sendDate;
    if (!isSimple || this.headersSent || announcesTrailers(list)) {
      checkBlock(blockSize([this.getHeaders(), ...given]));
      return super.writeHead(status, ...(given as [OutgoingHttpHeaders]));
    }
    const { stream } = this;
    if (stream.destroyed || stream.closed) return this;
    const headers = { ...this.getHeaders(), ...headersOf(list), ":status": status };
    checkBlock(blockSize(headers));
    this.statusCode = status;
    stream.respond(headers);
    return this;
  }

  /** If Node fails to end a response, it cannot end it with another one either. */
  override end(...given: unknown[]): this {
    if (!this.headersSent) checkBlock(blockSize(this.getHeaders()));
    return super.end(...(given as []));
  }
}

/**
 * Less than nghttp2's limit for one block of headers, 64 KiB: a larger one would end the whole
 * connection.
 */
const MAX_BLOCK = 60 * 1024;
/** What it counts for a field besides its name and value. */
const FIELD_BYTES = 12;

/** @throws Error for headers that cannot be sent; only raw handlers can have that many */
function checkBlock(bytes: number): void {
  if (bytes > MAX_BLOCK) {
    throw new Error("the response headers are larger than HTTP/2 can send");
  }
}

/** The maximum size of headers, in each form that `writeHead` accepts. */
function blockSize(headers: unknown, name = 0): number {
  if (typeof headers !== "object" || headers === null) {
    return FIELD_BYTES + name + String(headers).length;
  }
  let bytes = 0;
  if (Array.isArray(headers)) {
    for (const each of headers) bytes += blockSize(each, name);
  } else {
    for (const key in headers) bytes += blockSize(headers[key as keyof object], key.length);
  }
  return bytes;
}

function announcesTrailers(list: readonly string[]): boolean {
  return list.some((name, index) => index % 2 === 0 && name.toLowerCase() === "trailer");
}

/**
 * A list of alternating names and values, as Node's HTTP/2 accepts it: names in lower case, several
 * values together.
 */
function headersOf(list: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let index = 0; index < list.length; index += 2) {
    const name = (list[index] as string).toLowerCase();
    const value = list[index + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

const hidden = new WeakMap<object, string[]>();
const { get: rawHeadersOf } = Object.getOwnPropertyDescriptor(
  Http2ServerRequest.prototype,
  "rawHeaders",
) as { get(): string[] };

Object.defineProperties(Request.prototype, {
  /** As with `node:http`: it can be set, to hide headers from a handler. */
  rawHeaders: {
    get(this: Request): string[] {
      return hidden.get(this) ?? rawHeadersOf.call(this);
    },
    set(this: Request, raw: string[]) {
      hidden.set(this, raw);
    },
  },
  headersDistinct: {
    get(this: Request): NodeJS.Dict<string[]> {
      const distinct: NodeJS.Dict<string[]> = Object.create(null);
      const { rawHeaders: raw } = this;
      for (let index = 0; index < raw.length; index += 2) {
        const name = raw[index] as string;
        const value = raw[index + 1] as string;
        const values = distinct[name];
        if (values === undefined) distinct[name] = [value];
        else values.push(value);
      }
      return distinct;
    },
  },
});

Object.defineProperties(Response.prototype, {
  destroyed: {
    get(this: Response): boolean {
      return this.stream.destroyed;
    },
  },
  /** HTTP/2 has no reason phrase; Node would warn. */
  statusMessage: { get: () => "", set: () => undefined },
});
