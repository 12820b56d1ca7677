import { constants, fstatSync, openSync, writeSync } from "node:fs";

/** Where lines of the log go. */
export interface LineDestination {
  /** Takes one line, which ends in a line break. */
  write(line: string): void;
  /** Writes what is still in memory. */
  flushSync(): void;
}

/** The most bytes that are buffered; beyond this they are written at once. */
const MAX_WAITING = 64 * 1024;
/** How long a line may wait for others to be written with. */
const DELAY_MS = 10;
const BUSY_WAIT_MS = 5;
/** How long a reader may leave a pipe full before lines are dropped. */
const MAX_BUSY_MS = 2000;
const LINE_END = 10;
const NOTHING = Buffer.alloc(0);
const OPEN_FLAGS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Writes lines to a file descriptor, those of a few milliseconds in one write: a write for each
 * would cost more than the rest of a line.
 *
 * If the reader leaves its pipe full, the logger waits once; then lines are dropped, and counted in
 * a line of their own, until it reads again.
 */
export function createLineDestination(descriptor = 1): LineDestination {
  let destination = destinations.get(descriptor);
  if (destination === undefined) {
    destination = new DescriptorDestination(withoutBlocking(descriptor));
    destinations.set(descriptor, destination);
  }
  return destination;
}

/** One for each descriptor, for all servers of a process. */
const destinations = new Map<number, LineDestination>();

class DescriptorDestination implements LineDestination {
  readonly #descriptor: number;
  #waiting = "";
  /** The rest of a partially written line. */
  #rest: Buffer = NOTHING;
  #dropped = 0;
  #patienceMs = MAX_BUSY_MS;
  #isScheduled = false;
  #isBroken = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    process.on("exit", () => this.flushSync());
  }

  write(line: string): void {
    this.#waiting += line;
    if (this.#waiting.length >= MAX_WAITING) {
      this.flushSync();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setTimeout(() => this.flushSync(), DELAY_MS).unref();
    }
  }

  flushSync(): void {
    this.#isScheduled = false;
    const text = this.#waiting;
    this.#waiting = "";
    if (text === "" || this.#isBroken) return;
    try {
      if (this.#dropped === 0 && this.#rest.length === 0) {
        this.#dropped = this.#put(text);
        return;
      }
      const notice = this.#dropped === 0 ? "" : droppedLine(this.#dropped);
      const lost = this.#put(Buffer.concat([this.#rest, Buffer.from(notice + text)]));
      const isReported = lost <= linesOf(Buffer.from(text), 0);
      this.#dropped = isReported ? lost : this.#dropped + lost - 1;
    } catch {
      // Nobody reads any longer; the service continues without a log.
      this.#isBroken = true;
    }
  }

  /** @returns how many lines could not be started */
  #put(data: string | Buffer): number {
    // In one write, without a copy, if the reader keeps up. Of ASCII the text has as many bytes, and
    // Node need not count them again.
    const length = Buffer.byteLength(data);
    const encoding = length === data.length ? "latin1" : "utf8";
    const written = tryWrite(this.#descriptor, data, encoding);
    if (typeof data === "string" && written === length) return 0;
    const bytes = Buffer.from(data as string);
    const end = writeRest(this.#descriptor, bytes, written, this.#patienceMs);
    this.#patienceMs = end === bytes.length ? MAX_BUSY_MS : 0;
    const isWithinLine = end === 0 ? this.#rest.length > 0 : bytes[end - 1] !== LINE_END;
    const lineEnd = isWithinLine ? bytes.indexOf(LINE_END, end) + 1 || bytes.length : end;
    this.#rest = bytes.subarray(end, lineEnd);
    return linesOf(bytes, lineEnd);
  }
}

/**
 * A descriptor of the same pipe or terminal that does not block: a write to one that nobody reads
 * would stop the process, signals included. It is opened again, since others may share the given one.
 */
function withoutBlocking(descriptor: number): number {
  try {
    const status = fstatSync(descriptor);
    if (!status.isFIFO() && !status.isCharacterDevice()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, OPEN_FLAGS);
  } catch {
    // Not on Linux, or not permitted.
    return descriptor;
  }
}

/**
 * A pipe accepts what fits, and the rest when its reader has read. @returns the end of the written
 * part
 */
function writeRest(descriptor: number, bytes: Buffer, from: number, patienceMs: number): number {
  const deadline = performance.now() + patienceMs;
  let offset = from;
  while (offset < bytes.length) {
    const written = tryWrite(descriptor, bytes.subarray(offset));
    offset += written;
    if (written > 0) continue;
    if (performance.now() >= deadline) break;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_WAIT_MS);
  }
  return offset;
}

/** @returns how many bytes were written; 0 if the reader has to read first */
function tryWrite(
  descriptor: number,
  data: string | Buffer,
  encoding: "latin1" | "utf8" = "utf8",
): number {
  try {
    return typeof data === "string"
      ? writeSync(descriptor, data, null, encoding)
      : writeSync(descriptor, data);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}

function linesOf(bytes: Buffer, from: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END, from); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) {
    lines++;
  }
  return lines;
}

function droppedLine(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: "warn", time, lines, message: "lines of the log were dropped: they were not read in time" })}\n`;
}
