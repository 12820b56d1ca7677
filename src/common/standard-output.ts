import { writeSync } from "node:fs";

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
