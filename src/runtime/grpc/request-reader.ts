import type { ServerDuplexStream } from "@grpc/grpc-js";
import { ServiceError } from "../error/service-error.ts";

/**
 * Reads the request messages of a call. Nothing is read before it is asked for: until then
 * HTTP/2 flow control holds the client back.
 *
 * By events rather than as Node's iterator, which would destroy the call, its status unsent,
 * where an error is answered while somebody still reads.
 */
export class RequestReader {
  readonly #call: ServerDuplexStream<Buffer, Uint8Array>;
  #wake: (() => void) | undefined;
  #listens = false;

  constructor(call: ServerDuplexStream<Buffer, Uint8Array>) {
    this.#call = call;
  }

  /**
   * The only message of the request.
   *
   * @throws ServiceError INVALID_ARGUMENT, CANCELLED
   */
  async single(): Promise<Uint8Array> {
    const message = await this.next();
    if (message === undefined) throw count("no");
    if ((await this.next()) !== undefined) throw count("more than one");
    return message;
  }

  /** The messages one by one. */
  async *messages(): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message !== undefined; message = await this.next()) {
      yield message;
    }
  }

  /**
   * The next message; undefined behind the last.
   *
   * @throws ServiceError CANCELLED
   */
  async next(): Promise<Uint8Array | undefined> {
    const call = this.#call;
    this.#listen();
    for (;;) {
      const message = call.read() as Buffer | null;
      // As a plain array: what handlers get must not change its meaning of `slice`.
      if (message !== null) {
        return new Uint8Array(message.buffer, message.byteOffset, message.length);
      }
      if (call.readableEnded) return undefined;
      if (call.destroyed) throw new ServiceError("CANCELLED");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #listen(): void {
    if (this.#listens) return;
    this.#listens = true;
    const wake = () => this.#wake?.();
    this.#call.on("readable", wake);
    this.#call.on("end", wake);
    this.#call.on("close", wake);
  }
}

function count(what: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the request has ${what} message; it must have one`);
}
