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
  /** What the request holds of the memory that there is for messages; closed once the call is over. */
  readonly account: MessageAccount;
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Whether a request has a body, or says that it may have one. */
export function declaresBody(incoming: IncomingMessage): boolean {
  const { headers } = incoming;
  const { stream } = incoming as Partial<Pick<Http2ServerRequest, "stream">>;
  // HTTP/2 says so by not ending the stream with the headers.
  if (stream !== undefined) return !stream.endAfterHeaders;
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
}

/** The bytes of a body that are worth less than a new connection. */
const SHORT_REST = 16 * 1024;

/** Whether a body comes over HTTP/1 that nobody will read. What is left of a short one Node swallows itself. */
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

/** Whether the client has gone, or the request was broken off: Node tells the end of such a stream of HTTP/2, too. */
export function isBrokenOff(incoming: IncomingMessage): boolean {
  const { stream } = incoming as Partial<Pick<Http2ServerRequest, "stream">>;
  if (stream !== undefined) return stream.closed || stream.aborted;
  return incoming.destroyed && !incoming.complete;
}

/**
 * Reads a body. Called when the chain asks for it, so after authentication and
 * rate limit: who may not call cannot make the server keep anything.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE, by its announced length before anything is read; RESOURCE_EXHAUSTED
 * where there is no memory for it; CANCELLED where it is broken off, or the call is over
 */
export function readBody(source: BodySource): Promise<Buffer> {
  const { incoming, response, limit, account } = source;
  if (!declaresBody(incoming)) return Promise.resolve(EMPTY);
  if (Number(incoming.headers["content-length"] ?? 0) > limit) {
    return Promise.reject(tooLarge(limit));
  }
  // Nothing would report it any more.
  if (incoming.destroyed || isBrokenOff(incoming)) {
    return Promise.reject(new ServiceError("CANCELLED"));
  }
  // Only now: a client that waits for it does not send a body that is refused anyway.
  if (incoming.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    const stop = (): void => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
    };
    const fail = (error: ServiceError): void => {
      stop();
      pieces.clear();
      // After an answer, what still comes is swallowed for a while.
      if (!response.headersSent) incoming.pause();
      // What Node still has to say of the stream is nobody's concern any more.
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
      // Whoever asked for it counts what becomes of it.
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
