/** The logger of the runtime; a pino logger is one. Objects come first, and contain no secrets. */
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

/** Logs nothing, for callers that report important events themselves. */
export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
