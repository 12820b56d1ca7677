import type { IncomingMessage, ServerResponse } from "node:http";
import { COUNTED_FROM_BYTES } from "../../wire/unread-responses.ts";
import type { Connection } from "./connections.ts";
import type { TransportLimits } from "./server-state.ts";

/** A response, with the request and the connection that it belongs to. */
export interface Sending {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Pick<Connection, "isMultiplexed" | "unread">;
}

/** What is destroyed to abort a response. */
interface Carrier {
  destroy(): unknown;
}

/** Over HTTP/1 the socket: a response that waits for earlier ones of its connection has none yet. */
function carrierOf({ incoming, response, connection }: Sending): Carrier {
  return connection.isMultiplexed ? response : incoming.socket;
}

/**
 * Counts a part of a response that the client may not read soon: it is cut off if others need the
 * memory.
 *
 * @returns a function that ends this: the client has read it
 */
export function countUnread(sending: Sending, bytes: number): () => void {
  // Not the exchange, which leads to the call and its messages.
  const carrier = carrierOf(sending);
  return sending.connection.unread.add(bytes, () => carrier.destroy());
}

/** Whether what was written of a response has left the process; most have by the time they are written. */
export function isTaken({ response, connection }: Sending, bytes: number): boolean {
  if (connection.isMultiplexed) return response.writableFinished;
  const { socket } = response;
  // It waits for earlier responses of its connection.
  if (socket === null) return bytes < COUNTED_FROM_BYTES;
  return socket.writableLength === 0;
}

/**
 * Cuts off a client that does not read a completely written response, once its time is up or others
 * need the memory.
 */
export function guardSending(sending: Sending, bytes: number, timeoutMs: number): void {
  const { response } = sending;
  const taken = countUnread(sending, bytes);
  boundSending(response, timeoutMs, carrierOf(sending));
  response.once("close", taken);
}

/** Aborts a completely written response that its client does not read in time. */
function boundSending(
  response: ServerResponse,
  timeoutMs: number,
  carrier: Carrier = response,
): void {
  const timer = setTimeout(() => carrier.destroy(), timeoutMs);
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
