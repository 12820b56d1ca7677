import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

/** Reading must not wait for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
/** More than any file that a configuration names. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file that a configuration names. Unlike `readFileSync`, it does not wait for the writer of a pipe, which may
 * never come, and does not take a large file into memory.
 *
 * @throws Error with the `code` of Node.js; of what is not a file `ENOTREG`, and of a larger one `EFBIG`, with a message
 * that says so
 */
export function readRegularFile(path: string, mostBytes = MOST_BYTES): Buffer {
  const file = openSync(path, FLAGS);
  try {
    const bytes = roomFor(fstatSync(file), mostBytes);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = readSync(file, bytes, length, bytes.length - length, length);
    }
    return whole(bytes, length, mostBytes);
  } finally {
    closeSync(file);
  }
}

/** The same without holding up calls under way. */
export async function readRegularFileLater(path: string, mostBytes = MOST_BYTES): Promise<Buffer> {
  const file = await open(path, FLAGS);
  try {
    const bytes = roomFor(await file.stat(), mostBytes);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
    }
    return whole(bytes, length, mostBytes);
  } finally {
    await file.close();
  }
}

/** Files of the kernel say that they are empty, and a file may grow while it is read. */
function roomFor(stats: Stats, mostBytes: number): Buffer {
  if (stats.isDirectory()) throw failure("EISDIR", "it is a folder");
  if (!stats.isFile()) throw failure("ENOTREG", "it is a pipe, a device or a socket; name a file");
  if (stats.size > mostBytes) throw tooLarge(mostBytes);
  return Buffer.alloc(stats.size === 0 ? mostBytes + 1 : stats.size + 1);
}

function whole(bytes: Buffer, length: number, mostBytes: number): Buffer {
  if (length > mostBytes) throw tooLarge(mostBytes);
  if (length === bytes.length) throw failure("EBUSY", "it grew while it was read; try again");
  return bytes.subarray(0, length);
}

function tooLarge(mostBytes: number): Error {
  return failure("EFBIG", `it has more than ${mostBytes} bytes; name the right file`);
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
