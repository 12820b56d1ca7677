import { readSync, writeSync } from "node:fs";

const CHUNK = 1 << 20;

/** All bytes of standard input, in large reads: an image may have hundreds of megabytes. */
export function readStandardInput(): Uint8Array {
  let buffer = Buffer.allocUnsafe(CHUNK);
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    const read = readOnce(buffer, length);
    if (read === 0) return buffer.subarray(0, length);
    length += read;
  }
}

function readOnce(buffer: Buffer, offset: number): number {
  for (;;) {
    try {
      return readSync(0, buffer, offset, buffer.length - offset, null);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return 0;
      // A non-blocking pipe is still empty.
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/**
 * Writes bytes to standard output, all of them before it returns.
 *
 * The stream of Node.js would load the code for sockets, which takes longer than the write itself.
 */
export function writeStandardOutput(bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length; ) start += writeOnce(bytes.subarray(start));
}

function writeOnce(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    // A non-blocking pipe is full.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}
