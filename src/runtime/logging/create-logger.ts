import pino from "pino";
import type { Logger } from "../../common/logger.ts";
import { createLineDestination, type LineDestination } from "./line-destination.ts";
import { withBriefOutage } from "./redaction/brief-error.ts";
import { redactText } from "./redaction/redact-text.ts";
import { redact } from "./redaction/redaction.ts";

/** The lowest level that is logged. */
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** How the log is written. */
export interface LoggerOptions {
  /** This level and those above it are written; `info` if absent. */
  readonly level?: LogLevel;
  /** The name of the deployed service, on every line. */
  readonly service?: string;
  /** The environment, on every line. */
  readonly environment?: string;
  /** Where lines go; standard output if absent. */
  readonly destination?: Pick<LineDestination, "write"> & Partial<LineDestination>;
}

/** Writes lines that already are JSON. */
export interface LineWriter {
  /**
   * Writes one line: level, time, the common members and the given ones.
   *
   * @param members members of a JSON object, without braces and without secrets
   * @param now milliseconds since the epoch, for writing many lines at once: reading the clock for
   * each would cost as much as the rest of the line
   */
  line(level: "info" | "warn" | "error", members: string, message: string, now?: number): void;
}

/** The log of a process. */
export interface ProcessLogger extends Logger, LineWriter {
  /** Writes what is still in memory, before the process ends. */
  flush(): void;
}

/** The options from a service's configuration. */
export function loggerOptionsOf(config: {
  readonly service: string;
  readonly environment: string;
  readonly log: { readonly level: LogLevel };
}): LoggerOptions {
  return { level: config.log.level, service: config.service, environment: config.environment };
}

/**
 * A logger that writes one line of JSON for each message, without secrets in the fields or the
 * message (docs/requirements.md, OBS-4).
 *
 * @example
 * ```ts
 * const logger = createLogger({ service: "notes", level: "debug" });
 * logger.info({ items: 3, password: "hunter2" }, "loaded");
 * // {"level":"info","time":"…","service":"notes","items":3,"password":"***","message":"loaded"}
 * ```
 */
export function createLogger(options: LoggerOptions = {}): ProcessLogger {
  const { level = "info", service, environment } = options;
  const destination = options.destination ?? createLineDestination();
  const base = {
    ...(service === undefined ? {} : { service }),
    ...(environment === undefined ? {} : { environment }),
  };
  const log = pino(
    {
      level,
      base,
      messageKey: "message",
      timestamp: () => `,"time":"${timestamp(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const baseMembers = Object.entries(base)
    .map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)
    .join("");
  const at = (name: "debug" | "info" | "warn" | "error") => (fields: object, message: string) => {
    if (!log.isLevelEnabled(name)) return;
    const safe = redact(fields);
    const isMap = typeof safe === "object" && !Array.isArray(safe) && !(fields instanceof Error);
    log[name](withBriefOutage(isMap ? (safe as object) : { error: safe }), redactText(message));
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    line(name, members, message, now = Date.now()) {
      if (!log.isLevelEnabled(name)) return;
      destination.write(
        `{"level":"${name}","time":"${timestamp(now)}"${baseMembers},${members},"message":"${message}"}\n`,
      );
    },
    flush() {
      destination.flushSync?.();
    },
  };
}

let lastTime = 0;
let lastTimestamp = "";

/** Many lines fall into one millisecond. */
function timestamp(now: number): string {
  if (now !== lastTime) {
    lastTime = now;
    lastTimestamp = new Date(now).toISOString();
  }
  return lastTimestamp;
}
