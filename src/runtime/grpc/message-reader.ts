import type { ServerHttp2Stream } from "node:http2";
import { ServiceError } from "../error/service-error.ts";
import { type Frame, FrameDecoder } from "./frame-decoder.ts";
import { decompress, type MessageEncoding } from "./message-encoding.ts";

/**
 * Reads the request messages of a call. Nothing is read before it is asked for: until
 * then HTTP/2 flow control holds the client back.
 */
export class MessageReader {
  readonly #stream: ServerHttp2Stream;
  readonly #encoding: MessageEncoding;
  readonly #maxBytes: number;

  constructor(stream: ServerHttp2Stream, encoding: MessageEncoding, maxBytes: number) {
    this.#stream = stream;
    this.#encoding = encoding;
    this.#maxBytes = maxBytes;
  }

  /**
   * The only message of the request.
   *
   * @throws ServiceError INVALID_ARGUMENT, PAYLOAD_TOO_LARGE, CANCELLED
   */
  async single(): Promise<Uint8Array> {
    const frame = await this.#singleFrame();
    return bytesOf(frame.compressed ? await this.#decompress(frame) : frame.data);
  }

  /** The messages one by one. The next bytes are read when the next message is asked for. */
  async *messages(): AsyncGenerator<Uint8Array> {
    const decoder = new FrameDecoder(this.#maxBytes);
    try {
      for await (const piece of this.#stream.iterator({ destroyOnReturn: false })) {
        decoder.push(piece as Buffer);
        for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
          yield bytesOf(frame.compressed ? await this.#decompress(frame) : frame.data);
        }
      }
    } catch (error) {
      throw error instanceof ServiceError ? error : new ServiceError("CANCELLED");
    }
    if (!decoder.isAtBoundary) throw truncated();
  }

  /** By events rather than as an iterator: most calls come this way. */
  #singleFrame(): Promise<Frame> {
    const stream = this.#stream;
    const decoder = new FrameDecoder(this.#maxBytes);
    return new Promise((resolve, reject) => {
      let found: Frame | undefined;
      let isOver = false;
      const fail = (error: ServiceError) => {
        isOver = true;
        stream.removeListener("data", take);
        stream.pause();
        reject(error);
      };
      const take = (piece: Buffer) => {
        decoder.push(piece);
        try {
          for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
            if (found !== undefined) return fail(count("more than one"));
            found = frame;
          }
        } catch (error) {
          fail(error as ServiceError);
        }
      };
      stream.on("data", take);
      stream.once("end", () => {
        isOver = true;
        if (!decoder.isAtBoundary) reject(truncated());
        else if (found === undefined) reject(count("no"));
        else resolve(found);
      });
      stream.once("close", () => {
        if (!isOver) reject(new ServiceError("CANCELLED"));
      });
    });
  }

  #decompress(frame: Frame): Promise<Buffer> {
    return decompress(frame.data, this.#encoding, this.#maxBytes);
  }
}

/** As a plain array: what handlers get must not change its meaning of `slice`. */
function bytesOf(data: Buffer): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.length);
}

function truncated(): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", "the request ends within a message");
}

function count(what: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the request has ${what} message; it must have one`);
}
