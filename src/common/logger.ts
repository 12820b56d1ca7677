/** What the runtime logs to; a pino logger is one. Objects come first, and hold no secret. */
export interface Logger {
  /** What helps to find a fault, and is too much at other times. */
  debug(fields: object, message: string): void;
  /** What has happened as it should, such as a start. */
  info(fields: object, message: string): void;
  /** What somebody should look at, though calls are served. */
  warn(fields: object, message: string): void;
  /** What has failed, and was not to be expected. */
  error(fields: object, message: string): void;
}

/** Logs nothing, where the caller reports by itself what matters. */
export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
