/** Why a database cannot be used, as a gRPC code. */
export type DatabaseErrorCode =
  /** The name of the database is not valid. */
  | "INVALID_ARGUMENT"
  /** A person must change something first: a privilege, a file, the version of a program. */
  | "FAILED_PRECONDITION"
  /** It does not answer; a later attempt may succeed. */
  | "UNAVAILABLE";

/**
 * A database cannot be used. The message says how to fix it, and contains no secrets.
 *
 * @example
 * ```ts
 * try {
 *   await migrateDatabase(configuration.config);
 * } catch (error) {
 *   const isDown = error instanceof DatabaseError && error.code === "UNAVAILABLE";
 *   if (!isDown) throw error;
 *   console.error("try again later:", error.message);
 * }
 * ```
 */
export class DatabaseError extends Error {
  /** `DatabaseError`, or the name of a subclass. */
  override readonly name: string = "DatabaseError";
  /** The reason, with which a program can decide whether to try again. */
  readonly code: DatabaseErrorCode;

  /** @param message - the problem and its fix, without secrets */
  constructor(code: DatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A program stopped waiting for a database, which may be down or may wait itself. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";

  /** @param milliseconds - how long it waited */
  constructor(milliseconds: number) {
    super(`no answer in ${milliseconds} ms`);
  }
}
