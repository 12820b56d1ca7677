import { promisify } from "node:util";
import { constants, deflate, gunzip, gzip, inflate } from "node:zlib";
import { ServiceError } from "../error/service-error.ts";
import { requestTooLarge } from "./envelope.ts";

/** For smaller messages compression is not worth its time. */
export const COMPRESS_FROM_BYTES = 16 * 1024;

/** How messages are compressed. */
export interface MessageEncoding {
  readonly name: string;
  /** Compresses a message, off the event loop. */
  pack(data: Uint8Array): Promise<Uint8Array>;
  /** Decompresses a message, off the event loop; see `unpack`. */
  readonly unpack: (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;
}

const FAST = { level: constants.Z_BEST_SPEED };
const packGzip = promisify(gzip);
const packDeflate = promisify(deflate);

/** In the order of preference. */
const ENCODINGS: readonly MessageEncoding[] = [
  { name: "gzip", pack: (data) => packGzip(data, FAST), unpack: promisify(gunzip) },
  { name: "deflate", pack: (data) => packDeflate(data, FAST), unpack: promisify(inflate) },
];

/** The header of HTTP that names the compression of a body. */
const CONTENT_ENCODING = "content-encoding";

/** What is not compressed. */
const IDENTITY = "identity";

/** What this server understands. */
export const ENCODING_NAMES: readonly string[] = [IDENTITY, ...ENCODINGS.map(({ name }) => name)];

/** The encoding with a name; undefined for `identity` and unknown names. */
function encodingOf(name: string): MessageEncoding | undefined {
  return ENCODINGS.find((encoding) => encoding.name === name);
}

/**
 * How the client compresses its messages; undefined if it does not.
 *
 * @param header the name of the header with the encoding
 * @throws ServiceError UNIMPLEMENTED for an encoding that is not known; INVALID_ARGUMENT for two
 */
export function requestEncoding(
  header: string,
  values: readonly string[],
): MessageEncoding | undefined {
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${header} occurs more than once`);
  }
  const [value] = values;
  // HTTP's names are case-insensitive; those of gRPC and Connect are not.
  const name = header === CONTENT_ENCODING ? value?.toLowerCase() : value;
  if (name === undefined || name === "" || name === IDENTITY) return undefined;
  const encoding = encodingOf(name);
  if (encoding !== undefined) return encoding;
  throw new ServiceError(
    "UNIMPLEMENTED",
    `the message encoding is not supported; supported are ${ENCODING_NAMES.join(",")}`,
  );
}

/**
 * How a response is compressed for a client that says what it understands; undefined if it is not.
 *
 * @param accepted the values of the header with the accepted encodings, each a list
 */
export function responseEncoding(accepted: readonly string[]): MessageEncoding | undefined {
  if (accepted.length === 0) return undefined;
  const names = new Set(accepted.flatMap((value) => value.split(",").map((name) => name.trim())));
  return ENCODINGS.find(({ name }) => names.has(name));
}

/** One of a list in `Accept-Encoding`, with its weight. */
const ACCEPTED = /^\s*([^\s;]+)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?$/i;

/**
 * The same for `Accept-Encoding` of HTTP, in which names have weights.
 *
 * @param accepted the values of the header
 */
export function responseCoding(accepted: readonly string[]): MessageEncoding | undefined {
  const names = accepted
    .flatMap((value) => value.split(","))
    .flatMap((coding) => {
      const [, name = "", weight = "1"] = ACCEPTED.exec(coding) ?? [];
      return Number(weight) > 0 ? [name.toLowerCase()] : [];
    });
  return responseEncoding(names);
}

/**
 * How many messages are decompressed at a time: each may take its limit before it is counted, and
 * one of Node's few threads, which files and name lookups need as well.
 */
const AT_ONCE = 2;

/** How many may wait; their calls hold their compressed bytes. */
const MOST_WAITING = 2048;

let unpacking = 0;
/** Those that wait for a place, in the order in which they arrived. */
const waiting = new Set<() => void>();

/**
 * Decompresses a message. Only few are decompressed at a time, in the order of arrival.
 *
 * @param limit the most bytes that it may have then
 * @param signal aborts when the message is no longer needed: a waiting one is then never
 * decompressed
 * @throws ServiceError PAYLOAD_TOO_LARGE; INVALID_ARGUMENT for what is not valid compressed data;
 *   RESOURCE_EXHAUSTED if too many wait; CANCELLED
 */
export async function unpack(
  { name, unpack }: MessageEncoding,
  data: Uint8Array,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // An empty message needs no header either.
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
    "too many compressed messages wait for decompression; try again later",
    { retryAfterSeconds: 1 },
  );
}
