/** Why a database cannot be used, in the codes of gRPC. */
export type DatabaseErrorCode =
  /** What is to be opened is not named rightly. */
  | "INVALID_ARGUMENT"
  /** A person must change something first: a right, a file, the version of a program. */
  | "FAILED_PRECONDITION"
  /** It does not answer now; later it may. */
  | "UNAVAILABLE";

/** A database cannot be used. The message says how to fix it, and holds no secret. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
