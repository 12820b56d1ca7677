import { writeSync } from "node:fs";

/**
 * Writes bytes to standard output, all of them before it returns.
 *
 * The stream that Node.js has for it loads what sockets need, which takes longer than to write.
 */
export function writeStandardOutput(bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length; ) start += writeOnce(bytes.subarray(start));
}

function writeOnce(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    // A pipe that does not block is full.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}
