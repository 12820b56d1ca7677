/** A reason why the platform does not start, or ends: one message with its fix. */
export class PlatformError extends Error {
  /** The exit code: 2 for what a person must change, 1 for what went wrong by itself. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
