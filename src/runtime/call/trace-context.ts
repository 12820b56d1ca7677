import type { Call } from "./call.ts";
import { single } from "./call-headers.ts";
import { drawRandom, randomPool } from "./random-pool.ts";

const TRACEPARENT = "traceparent";
const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
/** Later versions begin as version 00 does, and may have more behind it. */
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

/** The trace id of a `traceparent`; undefined where that is not valid, and a new trace begins. */
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
