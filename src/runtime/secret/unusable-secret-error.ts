/** A file of a secret that cannot be used when a program starts; the message says how to fix that. */
export class UnusableSecretError extends Error {
  override readonly name = "UnusableSecretError";
}
