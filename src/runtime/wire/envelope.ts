import { ServiceError } from "../error/service-error.ts";

/** The flags of a message, and its length. */
const PREFIX_BYTES = 5;

/** The flags of an enveloped message, as gRPC, gRPC-Web and Connect have them. */
export const flag = {
  PLAIN: 0,
  COMPRESSED: 1,
  /** Connect: the last message of a stream. */
  END_STREAM: 2,
  /** gRPC-Web: the trailers. */
  TRAILERS: 128,
} as const;

/** A message as received. */
export interface Envelope {
  readonly isCompressed: boolean;
  readonly data: Uint8Array;
}

/** A message as sent. */
export function envelopeOf(data: Uint8Array, flags: number = flag.PLAIN): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + data.length);
  bytes[0] = flags;
  bytes.writeUInt32BE(data.length, 1);
  bytes.set(data, PREFIX_BYTES);
  return bytes;
}

/** What comes before the data of a message: its flags and length. */
export function prefixOf(length: number, flags: number): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix[0] = flags;
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

/** Extracts the messages of a request from its bytes, which may arrive in pieces of any size. */
export class EnvelopeParser {
  readonly #limit: number;
  readonly #pieces = new Pieces();
  /** How many bytes the next message has with its prefix; 0 while that is not known. */
  #needed = 0;

  /** @param limit the most bytes that a message may have */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many received bytes were not returned as messages yet. */
  get size(): number {
    return this.#pieces.size;
  }

  /** Keeps nothing. */
  clear(): void {
    this.#pieces.clear();
    this.#needed = 0;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  /**
   * The next message; undefined if it has not arrived completely.
   *
   * @throws ServiceError PAYLOAD_TOO_LARGE by its announced length; INVALID_ARGUMENT for flags that no request has
   */
  next(): Envelope | undefined {
    const { size } = this.#pieces;
    if (size < PREFIX_BYTES || size < this.#needed) return undefined;
    const bytes = this.#pieces.whole();
    const flags = bytes[0] as number;
    if (this.#needed === 0) {
      if (flags > flag.COMPRESSED) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "a message has flags that are not allowed in a request",
        );
      }
      const length = bytes.readUInt32BE(1);
      if (length > this.#limit) throw requestTooLarge(this.#limit);
      this.#needed = PREFIX_BYTES + length;
      if (size < this.#needed) return undefined;
    }
    const end = this.#needed;
    this.#pieces.drop(end);
    this.#needed = 0;
    return {
      isCompressed: flags === flag.COMPRESSED,
      // As a plain array: `slice` of a Buffer, which handlers would get, has another meaning.
      data: new Uint8Array(bytes.buffer, bytes.byteOffset + PREFIX_BYTES, end - PREFIX_BYTES),
    };
  }
}

/** @param limit in bytes */
export function requestTooLarge(limit: number): ServiceError {
  return new ServiceError(
    "PAYLOAD_TOO_LARGE",
    `a message is larger than ${limit} bytes, the limit of request messages`,
  );
}

/** @param limit in bytes */
export function responseTooLarge(limit: number): ServiceError {
  return new ServiceError(
    "PAYLOAD_TOO_LARGE",
    `the response message is larger than ${limit} bytes (server.max_response_bytes)`,
  );
}

/**
 * After this many pieces they are joined: each costs more than a hundred bytes, even if it is
 * short.
 */
const JOINED_AT = 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces of any size, and are needed as a whole: each is copied twice at most.
 */
export class Pieces {
  #joined: Buffer[] = [];
  #loose: Buffer[] = [];
  #size = 0;

  /** How many bytes there are. */
  get size(): number {
    return this.#size;
  }

  push(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#loose.push(piece) < JOINED_AT) return;
    this.#joined.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }

  /** Joins all pieces. */
  whole(): Buffer {
    const all = this.#joined.length === 0 ? this.#loose : [...this.#joined, ...this.#loose];
    const whole = all.length < 2 ? (all[0] ?? NOTHING) : Buffer.concat(all, this.#size);
    this.#joined = [];
    this.#loose = this.#size === 0 ? [] : [whole];
    return whole;
  }

  /** Discards this many bytes from the beginning. */
  drop(bytes: number): void {
    const rest = this.whole().subarray(bytes);
    this.clear();
    if (rest.length > 0) this.push(rest);
  }

  clear(): void {
    this.#joined = [];
    this.#loose = [];
    this.#size = 0;
  }
}
