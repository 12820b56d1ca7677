import { ServiceError } from "../error/service-error.ts";
import { requestTooLarge } from "./envelope.ts";
import type { MessageEncoding } from "./message-encoding.ts";

/**
 * How many messages are unpacked at once: each may take its limit before it is counted, and one of
 * the few threads that Node has, which files and look-ups of names need as well.
 */
const AT_ONCE = 2;

/** How many wait at most; what they are packed is held by their calls. */
const MOST_WAITING = 2048;

let unpacking = 0;
/** Those that wait for a place, in the order in which they came. */
const waiting = new Set<() => void>();

/**
 * Unpacks a message. Only few are unpacked at once, in the order in which they came.
 *
 * @param limit the most bytes that it may have then
 * @param signal says that nobody wants it any more: what waits then is never unpacked
 * @throws ServiceError PAYLOAD_TOO_LARGE; INVALID_ARGUMENT for what is not valid compressed data;
 *   RESOURCE_EXHAUSTED where too many wait; CANCELLED
 */
export async function unpack(
  { name, unpack }: MessageEncoding,
  data: Uint8Array,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // A message of no bytes needs no header either.
  if (data.length === 0) return data;
  await place(signal);
  try {
    // At least 1, which Node demands: one byte too many is found here.
    const unpacked = await unpack(data, { maxOutputLength: Math.max(1, limit) });
    if (unpacked.length > limit) throw requestTooLarge(limit);
    return new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.length);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw requestTooLarge(limit);
    throw new ServiceError("INVALID_ARGUMENT", `a message is not valid ${name} data`, {
      cause: error,
    });
  } finally {
    leavePlace();
  }
}

/** Waits for a place among those that are unpacked. */
async function place(signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw new ServiceError("CANCELLED");
  if (unpacking < AT_ONCE) {
    unpacking++;
    return;
  }
  if (waiting.size >= MOST_WAITING) throw tooMany();
  await new Promise<void>((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      waiting.delete(enter);
      reject(new ServiceError("CANCELLED"));
    };
    waiting.add(enter);
    signal.addEventListener("abort", leave);
  });
}

/** The place goes to the next one. */
function leavePlace(): void {
  const [next] = waiting;
  if (next === undefined) unpacking--;
  else {
    waiting.delete(next);
    next();
  }
}

function tooMany(): ServiceError {
  return ServiceError.of(
    429,
    "RESOURCE_EXHAUSTED",
    "too many compressed messages wait to be unpacked; try again later",
    { retryAfterSeconds: 1 },
  );
}
