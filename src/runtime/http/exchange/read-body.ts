import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ServiceError } from "../../error/service-error.ts";
import { Pieces } from "../../wire/envelope.ts";
import type { MessageAccount } from "../../wire/message-budget.ts";

/** The body of one request, and the most bytes that it may have. */
export interface BodySource {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly limit: number;
  /** The request's share of the memory for messages; closed once the call is over. */
  readonly account: MessageAccount;
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Whether a request has a body, or may have one. */
export function declaresBody(incoming: IncomingMessage): boolean {
  const { headers } = incoming;
  const { stream } = incoming as Partial<Pick<Http2ServerRequest, "stream">>;
  // In HTTP/2 the headers do not end the stream then.
  if (stream !== undefined) return !stream.endAfterHeaders;
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
}

/** The largest rest of a body that costs less to read than a new connection. */
const SHORT_REST = 16 * 1024;

/**
 * Whether an HTTP/1 request has a body that nobody will read. Node discards the rest of a short one
 * itself.
 */
export function hasRestToRead(incoming: IncomingMessage): boolean {
  if (incoming.complete || !declaresBody(incoming)) return false;
  const length = Number(incoming.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  return length > SHORT_REST || incoming.readableDidRead || incoming.headers.expect !== undefined;
}

/** Whether the client of HTTP/1 asks for the connection to be closed after the response. */
export function asksToClose({ headers, httpVersion }: IncomingMessage): boolean {
  const { connection = "" } = headers;
  return httpVersion === "1.0"
    ? !/\bkeep-alive\b/i.test(connection)
    : /\bclose\b/i.test(connection);
}

/**
 * Whether the client has disconnected, or the request was aborted: Node reports the end of an aborted
 * HTTP/2 stream, too.
 */
export function isBrokenOff(incoming: IncomingMessage): boolean {
  const { stream } = incoming as Partial<Pick<Http2ServerRequest, "stream">>;
  if (stream !== undefined) return stream.closed || stream.aborted;
  return incoming.destroyed && !incoming.complete;
}

/**
 * Reads a body. Called when the chain needs it, after authentication and rate limit: callers that
 * are refused cannot make the server buffer anything.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE, by its announced length before anything is read;
 * RESOURCE_EXHAUSTED if there is no memory for it; CANCELLED if it is aborted, or the call is over
 */
export function readBody(source: BodySource): Promise<Buffer> {
  const { incoming, response, limit, account } = source;
  if (!declaresBody(incoming)) return Promise.resolve(EMPTY);
  if (Number(incoming.headers["content-length"] ?? 0) > limit) {
    return Promise.reject(tooLarge(limit));
  }
  // No later event would report it.
  if (incoming.destroyed || isBrokenOff(incoming)) {
    return Promise.reject(new ServiceError("CANCELLED"));
  }
  // Only now: a client that waits for 100-continue does not send a body that is refused anyway.
  if (incoming.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    const stop = (): void => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
    };
    const fail = (error: ServiceError): void => {
      stop();
      pieces.clear();
      // After the response, further data is discarded for a while.
      if (!response.headersSent) incoming.pause();
      // Later errors of the stream are ignored.
      incoming.on("error", () => undefined);
      reject(error);
    };
    const count = (bytes: number): boolean => {
      try {
        account.receive(bytes, fail);
        return true;
      } catch (error) {
        fail(error as ServiceError);
        return false;
      }
    };
    const onData = (chunk: Buffer): void => {
      pieces.push(chunk);
      if (pieces.size > limit) fail(tooLarge(limit));
      else count(pieces.size);
    };
    const onEnd = (): void => {
      if (isBrokenOff(incoming)) return onGone();
      // The caller counts the memory of the result.
      if (!count(0)) return;
      stop();
      resolve(pieces.whole());
    };
    const onGone = (): void => fail(new ServiceError("CANCELLED"));
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError("PAYLOAD_TOO_LARGE", `the body is larger than ${limit} bytes`);
}
