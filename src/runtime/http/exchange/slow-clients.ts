import type { IncomingMessage, ServerResponse } from "node:http";
import type { TransportLimits } from "./server-state.ts";

/** Aborts a completely written response that its client does not read in time. */
export function boundSending(response: ServerResponse, timeoutMs: number): void {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}

/** The same for a response that a raw handler writes, and ends at some time. */
export function boundSendingOnceEnded(response: ServerResponse, timeoutMs: number): void {
  if (response.writableEnded) return boundSending(response, timeoutMs);
  let hasEnded = false;
  const timer = setInterval(() => {
    if (hasEnded) response.destroy();
    hasEnded = response.writableEnded;
  }, timeoutMs);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}

/** Ends the connection of a response after what was written of it, so that the client sees that it is not whole. */
export function cutOffConnection(
  response: ServerResponse,
  incoming: IncomingMessage,
  timeoutMs: number,
): void {
  const { socket } = response;
  if (socket === null || response.writableNeedDrain) response.destroy();
  // For a client without chunked encoding, the end of the connection is the end of the response.
  else if (incoming.httpVersion === "1.0") socket.resetAndDestroy();
  else {
    socket.destroySoon();
    boundSending(response, timeoutMs);
  }
}

/** Waits until the client has read more, has disconnected, or the deadline of the call has passed. */
export function drained(response: ServerResponse, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    signal?.addEventListener("abort", done);
    if (signal?.aborted === true || response.destroyed) done();
  });
}

/**
 * Discards the rest of an unread body for a short while. Closing a connection with unread bytes
 * resets it, and the client would lose the error response.
 */
export function linger(
  incoming: IncomingMessage,
  { lingerBytes, lingerMs }: TransportLimits,
  done: () => void,
): void {
  let left = lingerBytes;
  const finish = (): void => {
    clearTimeout(timer);
    incoming.off("data", onData).off("end", finish).off("close", finish);
    done();
  };
  const onData = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left >= 0) return;
    // Flow control stops the client, which has the rest of the time to read the response.
    incoming.off("data", onData).pause();
  };
  const timer = setTimeout(finish, lingerMs);
  incoming.on("error", () => undefined);
  incoming.on("data", onData).on("end", finish).on("close", finish);
  incoming.resume();
}
