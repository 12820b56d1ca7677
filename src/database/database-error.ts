/** Why a database cannot be used, in the codes of gRPC. */
export type DatabaseErrorCode =
  /** What is to be opened is not named rightly. */
  | "INVALID_ARGUMENT"
  /** A person must change something first: a right, a file, the version of a program. */
  | "FAILED_PRECONDITION"
  /** It does not answer now; later it may. */
  | "UNAVAILABLE";

/**
 * A database cannot be used. The message says how to fix it, and holds no secret.
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
  /** `DatabaseError`, or the name of one that says more. */
  override readonly name: string = "DatabaseError";
  /** Why, for a program to decide on: whether trying again can help. */
  readonly code: DatabaseErrorCode;

  /** @param message what is wrong and how to fix it, without secrets */
  constructor(code: DatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
