import { constants, type ServerHttp2Stream } from "node:http2";

/** The turns of the event loop in which the end of a response is sent, where nothing holds it up. */
const TURNS = 8;
/** How often it is looked for afterwards, in milliseconds. */
const CHECK_EVERY_MS = 20;

/** Streams whose client is slow to take the end of its response. */
const slow = new Set<ServerHttp2Stream>();
let checks: NodeJS.Timeout | undefined;

/**
 * Tells a client that the rest of its request is not wanted, where the response is over and the
 * request is not. Only once the end of the response was sent: nghttp2 drops what waits to be sent on
 * a stream that is reset, also its end, and a client then has half of a response. Node has no event
 * for that.
 *
 * Somebody else ends the stream of a client that never takes its response.
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
  // What has come already would keep the stream open.
  stream.resume();
  return true;
}
