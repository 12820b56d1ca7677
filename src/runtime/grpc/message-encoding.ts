import { ServiceError } from "../error/service-error.ts";

/** The header that names how the messages of its direction are compressed. */
export const ENCODING_HEADER = "grpc-encoding";
/** The header that names what its sender understands. */
export const ACCEPT_ENCODING_HEADER = "grpc-accept-encoding";
/** What this server understands. */
export const ACCEPTED_ENCODINGS = "identity,deflate,gzip";

/** Whether the server can read messages that are compressed so. */
export function isKnownEncoding(encoding: unknown): encoding is string {
  return encoding === "identity" || encoding === "gzip" || encoding === "deflate";
}

/**
 * Checks how the client compresses its messages.
 *
 * @throws ServiceError UNIMPLEMENTED for an encoding that is not known; INVALID_ARGUMENT for two
 */
export function checkEncoding(values: readonly string[]): void {
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${ENCODING_HEADER} occurs more than once`);
  }
  if (values.length === 1 && !isKnownEncoding(values[0])) {
    throw new ServiceError(
      "UNIMPLEMENTED",
      `the message encoding is not supported; supported are ${ACCEPTED_ENCODINGS}`,
    );
  }
}

/** Whether the client understands messages in gzip. */
export function acceptsGzip(values: readonly string[]): boolean {
  return values.some((value) => value.split(",").some((name) => name.trim() === "gzip"));
}
