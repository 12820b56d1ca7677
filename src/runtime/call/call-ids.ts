import { randomFillSync } from "node:crypto";
import type { Call } from "./call.ts";
import { type CallHeaders, single } from "./call-headers.ts";

/** One draw serves many calls: calling the system for each id costs more than the rest of it. */
const randomPool = Buffer.allocUnsafe(16 * 1024);
let used = randomPool.length;

/**
 * Returns random bytes, each of them only once.
 *
 * @returns their offset in `randomPool`, valid until the next draw
 */
function drawRandom(bytes: number): number {
  if (used + bytes > randomPool.length) {
    randomFillSync(randomPool);
    used = 0;
  }
  const start = used;
  used += bytes;
  return start;
}

/** The header of the id that logs, errors and audit events of a call share. */
export const REQUEST_ID_HEADER = "x-request-id";

/** Characters that are safe in a log line and a header, with the maximum length of an id. */
const ACCEPTED = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The caller's request id if it is safe, else a new one. */
export function requestIdOf(headers: CallHeaders): string {
  const sent = single(headers, REQUEST_ID_HEADER);
  return sent !== undefined && ACCEPTED.test(sent) ? sent : newRequestId();
}

const ID_BYTES = 16;
/** The text of an id: a UUID of version 4 (RFC 9562), written in place, as joining its parts costs more. */
const text = Buffer.alloc(36, "-");
const DIGITS = Buffer.from("0123456789abcdef");
/** The positions of the two digits of each byte. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** A new request id. */
export function newRequestId(): string {
  let next = drawRandom(ID_BYTES);
  randomPool[next + 6] = ((randomPool[next + 6] as number) & 0x0f) | 0x40;
  randomPool[next + 8] = ((randomPool[next + 8] as number) & 0x3f) | 0x80;
  for (const place of PLACES) {
    const byte = randomPool[next++] as number;
    text[place] = DIGITS[byte >> 4] as number;
    text[place + 1] = DIGITS[byte & 15] as number;
  }
  return text.toString("latin1");
}

const TRACEPARENT = "traceparent";
const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
/** Later versions begin as version 00 does, and may have more after it. */
const VERSION_LATER = /^(?!ff|00)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/;
const MAX_LENGTH = 512;
/** Where the flags are. */
const FLAGS = 53;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);

/** The stage "context injection": the trace that the call belongs to (W3C trace context), and its span. */
export function injectTraceContext(call: Call): void {
  // A tracer that watches the call has set its own.
  if (call.traceId !== "") return;
  const sent = single(call.headers, TRACEPARENT);
  const random = randomHex(24);
  call.spanId = random.slice(32);
  const traceId = sent === undefined ? undefined : traceIdOf(sent);
  call.isSampled = traceId !== undefined && isSampled(sent as string);
  call.traceId = traceId ?? random.slice(0, 32);
}

/** The trace id of a `traceparent`; undefined if that is not valid, and a new trace begins. */
export function traceIdOf(traceparent: string): string | undefined {
  if (traceparent.length > MAX_LENGTH) return undefined;
  const match = VERSION_00.exec(traceparent) ?? VERSION_LATER.exec(traceparent);
  if (match === null || match[1] === NO_TRACE || match[2] === NO_SPAN) return undefined;
  return match[1];
}

/** Whether the caller records the trace, by a `traceparent` that is valid. */
function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(FLAGS, FLAGS + 2), 16) & 1) === 1;
}

function randomHex(bytes: number): string {
  const start = drawRandom(bytes);
  return randomPool.toString("hex", start, start + bytes);
}
