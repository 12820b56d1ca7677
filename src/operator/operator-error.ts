/** What a person must fix: a flag, a file, a store that is held. The message says how. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
