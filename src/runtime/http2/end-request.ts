import { constants, type ServerHttp2Stream } from "node:http2";

/** How many turns of the event loop sending the end of a response takes, if nothing delays it. */
const TURNS = 8;
/** How often to check afterwards, in milliseconds. */
const CHECK_EVERY_MS = 20;

/** Streams whose client is slow to read the end of its response. */
const slow = new Set<ServerHttp2Stream>();
let checks: NodeJS.Timeout | undefined;

/**
 * Notifies a client that the rest of its request is not needed, if the response has ended and the
 * request has not. Only once the end of the response was sent: nghttp2 drops pending data of a
 * stream that is reset, including its end, and the client would get half of a response. Node has no
 * event for that.
 *
 * The stream of a client that never reads its response is ended elsewhere.
 */
export function endRequest(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded) setImmediate(look, stream, TURNS);
}

function look(stream: ServerHttp2Stream, turns: number): void {
  if (ended(stream)) return;
  if (turns > 1) {
    setImmediate(look, stream, turns - 1);
    return;
  }
  slow.add(stream);
  checks ??= setInterval(check, CHECK_EVERY_MS).unref();
}

function check(): void {
  for (const stream of slow) if (ended(stream)) slow.delete(stream);
  if (slow.size > 0) return;
  clearInterval(checks);
  checks = undefined;
}

/** Whether nothing is left to be done. */
function ended(stream: ServerHttp2Stream): boolean {
  if (stream.destroyed || stream.readableEnded) return true;
  if (!stream.closed) {
    if (stream.state.localClose !== 1) return false;
    stream.close(constants.NGHTTP2_NO_ERROR);
  }
  // Data that has already arrived would keep the stream open.
  stream.resume();
  return true;
}
