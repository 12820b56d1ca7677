import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createServer,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Stream,
} from "node:http2";
import type { ArrivedStream, Http2Connection } from "../http2/http2-connection.ts";

/** Takes a request of HTTP/2 in the form of HTTP/1.1, which handlers and their libraries know. */
export type Http2Listener = (
  request: IncomingMessage,
  response: ServerResponse,
  stream: ServerHttp2Stream,
  connection: Http2Connection,
) => void;

/**
 * Makes of a stream a request and a response as `node:http` has them, by the compatibility API of
 * `node:http2`: its server does not listen, it is given its streams.
 *
 * @param listener reads of them only what both have, or the classes here add
 */
export function http2Requests(listener: Http2Listener): (arrived: ArrivedStream) => void {
  const server: Http2Server = createServer({
    Http2ServerRequest: Request,
    Http2ServerResponse: Response,
  });
  /** Whose stream it is, within the event. */
  let arrived: ArrivedStream | undefined;
  const serve = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const { stream, connection } = arrived as ArrivedStream;
    // The types of Node tell them apart, though they are made to stand for each other.
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
    stream.once("finish", () => setImmediate(stopReading, stream, MAX_TURNS));
    arrived = next;
    server.emit("stream", stream, fields, flags, headers);
    arrived = undefined;
  };
}

/** How many turns of the event loop the end of a response gets to be on its way. */
const MAX_TURNS = 100;

/**
 * What the client still sends is not wanted, once all of the response is on its way: to reset the
 * stream before would take back its end.
 */
function stopReading(stream: ServerHttp2Stream, turns: number): void {
  if (stream.readableEnded) return;
  if (!stream.closed) {
    if (stream.state.localClose !== 1 && turns > 0) {
      setImmediate(stopReading, stream, turns - 1);
      return;
    }
    stream.close(constants.NGHTTP2_NO_ERROR);
  }
  // What has come already would keep the stream open.
  stream.resume();
}

/** Beside what the types of Node say, which have fields where Node has accessors. */
class Request extends Http2ServerRequest {}
class Response extends Http2ServerResponse {}

const hidden = new WeakMap<object, string[]>();
const { get: rawHeadersOf } = Object.getOwnPropertyDescriptor(
  Http2ServerRequest.prototype,
  "rawHeaders",
) as { get(): string[] };

Object.defineProperties(Request.prototype, {
  /** As with `node:http`: whoever hides headers from a handler sets it. */
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
  /** HTTP/2 has none; Node would warn of it. */
  statusMessage: { get: () => "", set: () => undefined },
});
