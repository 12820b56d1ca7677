/** What the runtime logs to; a pino logger is one. Objects come first, and hold no secret. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing, where the caller reports by itself what matters. */
export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
