import { promisify } from "node:util";
import { constants, deflate, gunzip, gzip, inflate } from "node:zlib";
import { ServiceError } from "../error/service-error.ts";
import { tooLarge } from "./envelope.ts";

/** Smaller messages gain nothing by compression that is worth its time. */
export const COMPRESS_FROM_BYTES = 16 * 1024;

/** How many messages are unpacked at once: each may take its limit before it is counted. */
const UNPACKED_AT_ONCE = 4;

/** How messages are compressed. */
export interface MessageEncoding {
  readonly name: string;
  /** Packs a message, off the event loop. */
  pack(data: Uint8Array): Promise<Uint8Array>;
  /** Unpacks a message, off the event loop; see `unpack`. */
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

/** What is not compressed. */
const IDENTITY = "identity";

/** What this server understands. */
export const ENCODING_NAMES: readonly string[] = [IDENTITY, ...ENCODINGS.map(({ name }) => name)];

/** The encoding with a name; undefined for `identity` and for what is not known. */
function encodingOf(name: string): MessageEncoding | undefined {
  return ENCODINGS.find((encoding) => encoding.name === name);
}

/**
 * How the client compresses its messages; undefined where it does not.
 *
 * @param header the name of the header that says so
 * @throws ServiceError UNIMPLEMENTED for an encoding that is not known; INVALID_ARGUMENT for two
 */
export function requestEncoding(
  header: string,
  values: readonly string[],
): MessageEncoding | undefined {
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${header} occurs more than once`);
  }
  const [name] = values;
  if (name === undefined || name === "" || name === IDENTITY) return undefined;
  const encoding = encodingOf(name);
  if (encoding !== undefined) return encoding;
  throw new ServiceError(
    "UNIMPLEMENTED",
    `the message encoding is not supported; supported are ${ENCODING_NAMES.join(",")}`,
  );
}

/**
 * How a response is compressed for a client that says what it understands; undefined where it is not.
 *
 * @param accepted the values of the header that says so, each a list
 */
export function responseEncoding(accepted: readonly string[]): MessageEncoding | undefined {
  if (accepted.length === 0) return undefined;
  const names = new Set(accepted.flatMap((value) => value.split(",").map((name) => name.trim())));
  return ENCODINGS.find(({ name }) => names.has(name));
}

let unpacking = 0;
const waiting: (() => void)[] = [];

/**
 * Unpacks a message. Only few are unpacked at once, in the order in which they came.
 *
 * @param limit the most bytes that it may have then
 * @throws ServiceError PAYLOAD_TOO_LARGE; INVALID_ARGUMENT for what is not valid compressed data
 */
export async function unpack(
  { name, unpack }: MessageEncoding,
  data: Uint8Array,
  limit: number,
): Promise<Uint8Array> {
  // A message of no bytes needs no header either.
  if (data.length === 0) return data;
  if (unpacking >= UNPACKED_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else unpacking++;
  try {
    // At least 1, which Node demands: one byte too many is found here.
    const unpacked = await unpack(data, { maxOutputLength: Math.max(1, limit) });
    if (unpacked.length > limit) throw tooLarge(limit);
    return new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.length);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(limit);
    throw new ServiceError("INVALID_ARGUMENT", `a message is not valid ${name} data`, {
      cause: error,
    });
  } finally {
    // The place goes to the next one.
    const next = waiting.shift();
    if (next === undefined) unpacking--;
    else next();
  }
}
