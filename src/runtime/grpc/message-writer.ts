import type { ServerHttp2Stream } from "node:http2";
import { PREFIX_BYTES, tooLarge } from "./frame-decoder.ts";
import { compress } from "./message-encoding.ts";

/** Smaller messages gain nothing by compression that is worth its time. */
const COMPRESS_FROM_BYTES = 16 * 1024;
/** Larger messages are not copied behind their prefix. */
const COPY_UP_TO_BYTES = 64 * 1024;

/** Frames a response message, compressed where the client understands it and it is worth it. */
export function frameMessage(
  data: Uint8Array,
  gzip: boolean,
  maxBytes: number,
): readonly Buffer[] | Promise<readonly Buffer[]> {
  if (data.length > maxBytes) throw tooLarge("the response message", maxBytes);
  if (!gzip || data.length < COMPRESS_FROM_BYTES) return frame(data, 0);
  return compress(data).then((smaller) => frame(smaller, 1));
}

function frame(data: Uint8Array, flag: number): readonly Buffer[] {
  const copies = data.length <= COPY_UP_TO_BYTES;
  const head = Buffer.allocUnsafe(PREFIX_BYTES + (copies ? data.length : 0));
  head[0] = flag;
  head.writeUInt32BE(data.length, 1);
  if (!copies) return [head, Buffer.from(data.buffer, data.byteOffset, data.length)];
  head.set(data, PREFIX_BYTES);
  return [head];
}

/**
 * Writes, and waits until the client has taken so much that more may be written, or
 * until nobody waits for it any more.
 *
 * @param signal asked for only where it must wait
 */
export function writeFrame(
  stream: ServerHttp2Stream,
  buffers: readonly Buffer[],
  signal: () => AbortSignal,
): undefined | Promise<void> {
  let more = true;
  for (const buffer of buffers) more = stream.write(buffer);
  if (more || stream.closed) return undefined;
  const aborted = signal();
  return new Promise((resolve) => {
    const done = () => {
      stream.removeListener("drain", done);
      stream.removeListener("close", done);
      aborted.removeEventListener("abort", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
    aborted.addEventListener("abort", done);
    if (aborted.aborted) done();
  });
}
