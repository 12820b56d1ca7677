import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ServiceError } from "../error/service-error.ts";
import { Pieces } from "../wire/pieces.ts";

/** The body of one request, and the most bytes that it may have. */
export interface BodySource {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly limit: number;
  /** Whether the call was ended early, so that nothing more is kept for it. */
  isOver(): boolean;
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

/**
 * Reads a body. Called when the chain asks for it, so behind authentication and
 * rate limit: who may not call cannot make the server keep anything.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE, by its announced length before anything is read
 */
export function readBody(source: BodySource): Promise<Buffer> {
  const { incoming, response, limit } = source;
  if (!declaresBody(incoming)) return Promise.resolve(EMPTY);
  if (Number(incoming.headers["content-length"] ?? 0) > limit) {
    return Promise.reject(tooLarge(limit));
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
      incoming.pause();
      // What Node still has to say of the stream is nobody's concern any more.
      incoming.on("error", () => undefined);
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      pieces.push(chunk);
      if (pieces.size > limit) fail(tooLarge(limit));
      else if (source.isOver()) fail(new ServiceError("CANCELLED"));
    };
    const onEnd = (): void => {
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
