import type { IncomingMessage } from "node:http";
import type { TransportLimits } from "./transport-limits.ts";

/**
 * Swallows what a client still sends of a body that nobody reads, for a short while.
 * A connection that is closed upon unread bytes is reset, and the client would lose
 * the error that says why.
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
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, lingerMs);
  incoming.on("error", () => undefined);
  incoming.on("data", onData).on("end", finish).on("close", finish);
  incoming.resume();
}
