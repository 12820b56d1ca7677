import { promisify } from "node:util";
import { constants, gunzip, gzip, inflate } from "node:zlib";
import { ServiceError } from "../error/service-error.ts";
import { tooLarge } from "./frame-decoder.ts";

/** The header that names how the messages of its direction are compressed. */
export const ENCODING_HEADER = "grpc-encoding";
/** The header that names what its sender understands. */
export const ACCEPT_ENCODING_HEADER = "grpc-accept-encoding";
/** What this server understands. */
export const ACCEPTED_ENCODINGS = "identity,gzip,deflate";

/** How messages are compressed on the wire. */
export type MessageEncoding = "identity" | "gzip" | "deflate";

const DECOMPRESS = { gzip: promisify(gunzip), deflate: promisify(inflate) };
const compressWithGzip = promisify(gzip);

/**
 * How the client compresses its messages.
 *
 * @throws ServiceError UNIMPLEMENTED for an encoding that is not known; INVALID_ARGUMENT for two
 */
export function requestEncodingOf(values: readonly string[]): MessageEncoding {
  if (values.length === 0) return "identity";
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${ENCODING_HEADER} occurs more than once`);
  }
  const encoding = values[0] as string;
  if (encoding === "identity" || encoding === "gzip" || encoding === "deflate") return encoding;
  throw new ServiceError(
    "UNIMPLEMENTED",
    `the message encoding is not supported; supported are ${ACCEPTED_ENCODINGS}`,
  );
}

/** Whether the client understands gzip. */
export function acceptsGzip(values: readonly string[]): boolean {
  return values.some((value) => value.split(",").some((name) => name.trim() === "gzip"));
}

/**
 * Decompresses a message, off the event loop, to at most so many bytes: it stops there,
 * whatever more a compressed message would become.
 *
 * @throws ServiceError INVALID_ARGUMENT, PAYLOAD_TOO_LARGE
 */
export async function decompress(
  data: Buffer,
  encoding: MessageEncoding,
  maxBytes: number,
): Promise<Buffer> {
  if (encoding === "identity") {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `a message is compressed, but there is no ${ENCODING_HEADER}`,
    );
  }
  try {
    return await DECOMPRESS[encoding](data, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge("a request message", maxBytes);
    }
    throw new ServiceError("INVALID_ARGUMENT", `a message is no valid ${encoding} data`, {
      cause: error,
    });
  }
}

/** Compresses a message with gzip, off the event loop, for speed rather than size. */
export function compress(data: Uint8Array): Promise<Buffer> {
  return compressWithGzip(data, { level: constants.Z_BEST_SPEED });
}
