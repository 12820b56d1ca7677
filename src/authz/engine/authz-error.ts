/**
 * Why an authorization engine refuses a request, as a gRPC code; all engines use the same codes.
 */
export type AuthzErrorCode =
  /** The request can never be right: an id, a name, a cursor, a token that is malformed or unknown to the model. */
  | "INVALID_ARGUMENT"
  /** A CREATE of a relationship that exists. */
  | "ALREADY_EXISTS"
  /** A precondition fails, a write would close a cycle, the depth limit is reached, or the store is held by another process. */
  | "FAILED_PRECONDITION"
  /** A cursor or a revision that is no longer kept. */
  | "OUT_OF_RANGE"
  /** A bound of the engine: too many results, too deep, too large. */
  | "RESOURCE_EXHAUSTED"
  /** The deadline has passed; no decision was made. */
  | "DEADLINE_EXCEEDED"
  /** The caller has cancelled. */
  | "CANCELLED"
  /** The engine or its store cannot be reached; never a decision. */
  | "UNAVAILABLE"
  /** Something that this engine does not do, such as caveats. */
  | "UNIMPLEMENTED"
  /** A defect of svc-access. */
  | "INTERNAL";

/**
 * The refusal of an authorization engine. The message is for developers and contains no secrets.
 *
 * @example
 * ```ts
 * try {
 *   await engine.writeRelationships({ updates });
 * } catch (error) {
 *   const exists = error instanceof AuthzError && error.code === "ALREADY_EXISTS";
 *   if (!exists) throw error;
 * }
 * ```
 */
export class AuthzError extends Error {
  override readonly name = "AuthzError";
  /** Why, for a program to decide on. */
  readonly code: AuthzErrorCode;

  /** @param message what is wrong, for a developer; without secrets */
  constructor(code: AuthzErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
