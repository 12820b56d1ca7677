import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { ServiceError } from "../error/service-error.ts";

interface Waiter {
  readonly resolve: (message: Uint8Array | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the request messages of a call, one for each time that one is asked for. Until then
 * HTTP/2 flow control holds the client back.
 */
export class RequestReader {
  readonly #call: ServerInterceptingCallInterface;
  #waiter: Waiter | undefined;
  /** Whether there must be one message, and that. */
  #isSingle = false;
  #only: Uint8Array | undefined;
  #isOver = false;
  #cancelled: ServiceError | undefined;

  constructor(call: ServerInterceptingCallInterface) {
    this.#call = call;
  }

  /**
   * The only message of the request, decoded: one promise for all of it, as most calls are these.
   *
   * @throws ServiceError INVALID_ARGUMENT, or why the call was cancelled
   */
  single<Message>(decode: (data: Uint8Array) => Message): Promise<Message> {
    this.#isSingle = true;
    return new Promise((resolve, reject) => {
      this.#waiter = {
        reject,
        resolve: (data) => {
          if (data === undefined) return reject(count("no"));
          if (!this.#isOver) return reject(count("more than one"));
          try {
            resolve(decode(data));
          } catch (error) {
            reject(error);
          }
        },
      };
      this.#call.startRead();
    });
  }

  /** The messages one by one. */
  async *messages(): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message !== undefined; message = await this.next()) {
      yield message;
    }
  }

  /**
   * The next message; undefined behind the last. One is asked for at a time.
   *
   * @throws ServiceError why the call was cancelled
   */
  next(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    if (this.#cancelled !== undefined) return Promise.reject(this.#cancelled);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#call.startRead();
    });
  }

  /** A message that was asked for has come. */
  received({ buffer, byteOffset, length }: Buffer): void {
    // As a plain array: what handlers get must not change its meaning of `slice`.
    const message = new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
    if (!this.#isSingle || this.#only !== undefined) return this.#take()?.resolve(message);
    // Only the end says that there is no other one.
    this.#only = message;
    this.#call.startRead();
  }

  /** There are no more messages. */
  ended(): void {
    this.#isOver = true;
    this.#take()?.resolve(this.#only);
  }

  /** The call is over before its messages are. */
  cancelled(reason: ServiceError): void {
    this.#cancelled ??= reason;
    this.#take()?.reject(reason);
  }

  #take(): Waiter | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }
}

function count(what: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the request has ${what} message; it must have one`);
}
