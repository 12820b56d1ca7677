import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

/** The flag whether a message is compressed, and its length. */
const PREFIX_BYTES = 5;
const PLAIN = 0;
const COMPRESSED = 1;

/** Smaller messages gain nothing by compression that is worth its time. */
export const COMPRESS_FROM_BYTES = 16 * 1024;

const compress = promisify(gzip);

/** A message as it goes over the wire. */
export function frameOf(data: Uint8Array): Buffer {
  return frame(data, PLAIN);
}

/** A message as it goes over the wire, in gzip; packed off the event loop. */
export async function compressedFrameOf(data: Uint8Array): Promise<Buffer> {
  return frame(await compress(data, { level: constants.Z_BEST_SPEED }), COMPRESSED);
}

function frame(data: Uint8Array, flag: number): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + data.length);
  bytes[0] = flag;
  bytes.writeUInt32BE(data.length, 1);
  bytes.set(data, PREFIX_BYTES);
  return bytes;
}
