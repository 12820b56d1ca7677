import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Logger } from "../../common/logger.ts";

/** How many file descriptors a process has, and may have. */
export interface FileDescriptors {
  readonly open: number;
  readonly limit: number;
}

/** How they are watched. */
export interface WatchOptions {
  readonly logger: Logger;
  /** Reads them; undefined if the system does not say. From `/proc` if absent. */
  readonly read?: () => Promise<FileDescriptors | undefined>;
  /** The time between two readings, in milliseconds. */
  readonly everyMs?: number;
  /** The time after which the same is logged again, in milliseconds. */
  readonly repeatMs?: number;
}

const EVERY_MS = 5000;
const REPEAT_MS = 60_000;
const MANY = 0.8;
const FIX = "raise the limit (ulimit -n), or find out who keeps connections open";

/**
 * Logs that file descriptors run out. Nobody else does: without a free one, Node closes new
 * connections, and reports nothing.
 *
 * @returns ends it
 */
export function watchFileDescriptors(options: WatchOptions): () => void {
  const { logger, everyMs = EVERY_MS, repeatMs = REPEAT_MS } = options;
  const { read = readFileDescriptors } = options;
  let isReading = false;
  let last = { level: "", at: Number.NEGATIVE_INFINITY };
  const look = async (): Promise<void> => {
    const level = levelOf(await read());
    const now = performance.now();
    if (level === undefined) return;
    // Worse than what was logged last is logged at once.
    const isWorse = level.level === "error" && last.level !== "error";
    if (!isWorse && now < last.at + repeatMs) return;
    last = { level: level.level, at: now };
    logger[level.level](level.fields, level.message);
  };
  const begin = (): void => {
    if (isReading) return;
    isReading = true;
    look()
      .catch((error: unknown) => logger.debug({ error }, "file descriptors cannot be counted"))
      .finally(() => {
        isReading = false;
      });
  };
  // Before anybody connects, since reading the limit takes a descriptor.
  limitOfProcess ??= readLimit();
  begin();
  const timer = setInterval(begin, everyMs).unref();
  return () => clearInterval(timer);
}

interface Level {
  readonly level: "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

function levelOf(found: FileDescriptors | undefined): Level | undefined {
  if (found === undefined || found.open <= found.limit * MANY) return undefined;
  const fields = { open: found.open, limit: found.limit };
  return found.open < found.limit
    ? { level: "warn", fields, message: `file descriptors are running out: ${FIX}` }
    : {
        level: "error",
        fields,
        message: `no file descriptor is free, and new connections are closed: ${FIX}`,
      };
}

let limitOfProcess: number | undefined;

/** Those of this process; undefined if there is no `/proc`. */
export async function readFileDescriptors(): Promise<FileDescriptors | undefined> {
  limitOfProcess ??= readLimit();
  limitOfProcess ??= readLimit();
  const limit = limitOfProcess;
  if (limit === undefined) return undefined;
  try {
    // One of them is that of the reading.
    return { open: (await readdir("/proc/self/fd")).length - 1, limit };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EMFILE") return { open: limit, limit };
    throw error;
  }
}

function readLimit(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return limit > 0 ? limit : undefined;
  } catch {
    return undefined;
  }
}
