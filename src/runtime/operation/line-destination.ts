import { writeSync } from "node:fs";

/** Where lines of the log go. */
export interface LineDestination {
  write(line: string): void;
  /** Writes what is still in memory. */
  flushSync(): void;
}

/** More is not kept in memory: it is written at once. */
const MAX_WAITING = 64 * 1024;
/** How long a line may wait for others to be written with. */
const DELAY_MS = 10;
const BUSY_WAIT_MS = 5;
/** How long a reader may leave a pipe full before lines are dropped. */
const MAX_BUSY_MS = 2000;

/**
 * Writes lines to a file descriptor, those of a few milliseconds in one write: a
 * write for each would cost more than all the rest of a line.
 */
export function createLineDestination(descriptor = 1): LineDestination {
  let destination = destinations.get(descriptor);
  if (destination === undefined) {
    destination = openDestination(descriptor);
    destinations.set(descriptor, destination);
  }
  return destination;
}

/** One for each descriptor, however many servers a process has. */
const destinations = new Map<number, LineDestination>();

function openDestination(descriptor: number): LineDestination {
  let waiting = "";
  let isScheduled = false;
  let isBroken = false;

  const flushSync = (): void => {
    isScheduled = false;
    const text = waiting;
    waiting = "";
    if (text === "" || isBroken) return;
    try {
      writeText(descriptor, text);
    } catch (error) {
      // Nobody reads any longer; the service goes on without a log.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") isBroken = true;
    }
  };
  process.on("exit", flushSync);
  return {
    flushSync,
    write(line) {
      waiting += line;
      if (waiting.length >= MAX_WAITING) {
        flushSync();
      } else if (!isScheduled) {
        isScheduled = true;
        setTimeout(flushSync, DELAY_MS).unref();
      }
    },
  };
}

function writeText(descriptor: number, text: string): void {
  let written = 0;
  try {
    written = writeSync(descriptor, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  if (written < Buffer.byteLength(text)) writeRest(descriptor, Buffer.from(text), written);
}

/** A pipe takes what it has room for. */
function writeRest(descriptor: number, bytes: Buffer, from: number): void {
  const deadline = performance.now() + MAX_BUSY_MS;
  for (let offset = from; offset < bytes.length; ) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      const isBusy = (error as NodeJS.ErrnoException).code === "EAGAIN";
      if (!isBusy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_WAIT_MS);
    }
  }
}
