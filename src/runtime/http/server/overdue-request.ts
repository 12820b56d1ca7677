import type { Connection } from "../exchange/connections.ts";

/**
 * Looks after a request that has not come in as a whole in its time, where it is a stream of messages: that
 * may take longer, for as long as a message comes in each such time. Node tells of it once only.
 *
 * @param overdue is called when none came, though one was waited for
 * @returns whether it is such a stream
 */
export function goesOn(connection: Connection, timeoutMs: number, overdue: () => void): boolean {
  // Of several requests of a connection only the newest can still come in.
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
