import type { Connection } from "../exchange/connections.ts";

/**
 * Handles a request that has not arrived completely in time, if it is a stream of messages: it may
 * take longer, as long as a message arrives in each such period. Node reports the timeout only
 * once.
 *
 * @param overdue called when no message arrived although one was awaited
 * @returns whether it is a stream
 */
export function goesOn(connection: Connection, timeoutMs: number, overdue: () => void): boolean {
  // Of several requests on a connection only the newest can be incomplete.
  const { newest } = connection;
  const messages = newest?.isReceiving === true ? newest.messages : undefined;
  if (messages === undefined) return false;
  let before = 0;
  const isStuck = (): boolean => {
    const { count, isAwaited } = messages;
    if (isAwaited && count === before) return true;
    before = count;
    return false;
  };
  if (isStuck()) return false;
  const timer = setInterval(() => {
    const isOver = connection.newest !== newest || !newest?.isReceiving;
    if (!isOver && !isStuck()) return;
    clearInterval(timer);
    if (!isOver) overdue();
  }, timeoutMs);
  timer.unref();
  return true;
}
