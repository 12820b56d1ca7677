import { ServiceError } from "../error/service-error.ts";

/** A message as it came: flag byte, length, and so many bytes. */
export interface Frame {
  readonly compressed: boolean;
  readonly data: Buffer;
}

/** The bytes in front of each message: a flag and the length. */
export const PREFIX_BYTES = 5;

/** A length is only a promise of the client's: memory grows with what has come. */
const FIRST_CAPACITY = 16 * 1024;

/** Cuts the bytes of a stream into messages. It holds one message at most, beside the last piece. */
export class FrameDecoder {
  readonly #maxBytes: number;
  /** What has come and was not taken. */
  #piece: Buffer = Buffer.alloc(0);
  /** A message, with its prefix, that came in several pieces. */
  #partial: Buffer | undefined;
  #filled = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the stream may end here. */
  get isAtBoundary(): boolean {
    return this.#piece.length === 0 && this.#filled === 0;
  }

  /** Adds what came. All messages of the piece before must have been taken. */
  push(piece: Buffer): void {
    this.#piece = piece;
  }

  /**
   * Takes the next message; undefined where more must come.
   *
   * @throws ServiceError INVALID_ARGUMENT, PAYLOAD_TOO_LARGE
   */
  next(): Frame | undefined {
    if (this.#filled === 0 && this.#piece.length >= PREFIX_BYTES) {
      const size = PREFIX_BYTES + this.#lengthOf(this.#piece);
      if (this.#piece.length >= size) {
        const frame = frameOf(this.#piece, size);
        this.#piece = this.#piece.subarray(size);
        return frame;
      }
    }
    return this.#collect();
  }

  #collect(): Frame | undefined {
    if (this.#filled < PREFIX_BYTES) this.#take(PREFIX_BYTES);
    if (this.#partial === undefined || this.#filled < PREFIX_BYTES) return undefined;
    const size = PREFIX_BYTES + this.#lengthOf(this.#partial);
    this.#take(size);
    if (this.#filled < size) return undefined;
    const frame = frameOf(this.#partial, size);
    this.#partial = undefined;
    this.#filled = 0;
    return frame;
  }

  /** Moves bytes of the piece over, until so many are there. */
  #take(size: number): void {
    const count = Math.min(size - this.#filled, this.#piece.length);
    if (count <= 0) return;
    this.#reserve(this.#filled + count, size);
    this.#piece.copy(this.#partial as Buffer, this.#filled, 0, count);
    this.#filled += count;
    this.#piece = this.#piece.subarray(count);
  }

  #reserve(needed: number, size: number): void {
    const present = this.#partial;
    if (present !== undefined && present.length >= needed) return;
    const doubled = Math.max(needed, (present?.length ?? 0) * 2, FIRST_CAPACITY);
    const grown = Buffer.allocUnsafe(size > PREFIX_BYTES ? Math.min(doubled, size) : doubled);
    present?.copy(grown, 0, 0, this.#filled);
    this.#partial = grown;
  }

  #lengthOf(bytes: Buffer): number {
    const flag = bytes[0] as number;
    if (flag > 1) {
      throw new ServiceError("INVALID_ARGUMENT", `a message begins with the flag byte ${flag}`);
    }
    const length = bytes.readUInt32BE(1);
    if (length > this.#maxBytes) throw tooLarge("a request message", this.#maxBytes);
    return length;
  }
}

/** The error of a message over the limit. */
export function tooLarge(what: string, maxBytes: number): ServiceError {
  return new ServiceError("PAYLOAD_TOO_LARGE", `${what} is larger than ${maxBytes} bytes`);
}

function frameOf(bytes: Buffer, size: number): Frame {
  return { compressed: bytes[0] === 1, data: bytes.subarray(PREFIX_BYTES, size) };
}
