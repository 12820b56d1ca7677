import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Deadlines, type Timed } from "../chain/deadlines.ts";
import { endRequest } from "../http2/end-request.ts";
import { COUNTED_FROM_BYTES, type UnreadResponses } from "../wire/unread-responses.ts";

/** How many bytes may wait for a client before the handler has to wait. */
const MAX_UNSENT_BYTES = 64 * 1024;

/**
 * How many messages may wait, even small ones: each costs more than its bytes. A handler that never
 * waits would also send this many in one turn of the event loop, in each of its calls.
 */
const MAX_UNSENT_MESSAGES = 64;

/** How long a client may read nothing of the rest of a finished call, in milliseconds. */
const LINGER_MS = 30_000;

const WAIT_FOR_TRAILERS = Object.freeze({ waitForTrailers: true });
const END_STREAM = Object.freeze({ endStream: true });

const lingering = new Deadlines(LINGER_MS);

/** Sends the response of one call over its HTTP/2 stream: headers, messages, trailers. */
export class ResponseWriter implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;

  readonly #stream: ServerHttp2Stream;
  readonly #unread: UnreadResponses;
  /** Notifies that the client has read the last message, if that is large. */
  #taken: (() => void) | undefined;
  #hasBegun = false;
  #hasEnded = false;
  /** The number of messages since the last wait for the client. */
  #messages = 0;

  /** @param unread the responses that clients have not read */
  constructor(stream: ServerHttp2Stream, unread: UnreadResponses) {
    this.#stream = stream;
    this.#unread = unread;
  }

  /** Whether anything can still be sent to the client. */
  get isOpen(): boolean {
    return !this.#hasEnded && !this.#stream.closed && !this.#stream.destroyed;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether so much waits for the client that further data would not reach it. */
  get isStuck(): boolean {
    return this.#stream.writableLength > MAX_UNSENT_BYTES;
  }

  /** Sends the headers; once, and while it is open. */
  begin(headers: OutgoingHttpHeaders): void {
    // Throws if Node does not send them: then the response has not begun.
    this.#stream.respond(headers, WAIT_FOR_TRAILERS);
    this.#hasBegun = true;
  }

  /**
   * Sends a message after the headers; resolves when the client can receive more.
   *
   * @param signal ends the wait for a client that reads nothing
   */
  async write(frame: Buffer, signal: () => AbortSignal): Promise<void> {
    const stream = this.#stream;
    this.#messages++;
    if (
      this.#messages < MAX_UNSENT_MESSAGES &&
      stream.writableLength + frame.length <= MAX_UNSENT_BYTES
    ) {
      stream.write(frame);
      return;
    }
    this.#messages = 0;
    const aborted = signal();
    const taken = this.#unread.add(frame.length, () => this.cancel());
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off("close", done);
        aborted.removeEventListener("abort", done);
        resolve();
      };
      stream.on("close", done);
      aborted.addEventListener("abort", done);
      // Called when all messages up to this one were read.
      stream.write(frame, done);
      if (aborted.aborted || stream.closed) done();
    });
    taken();
  }

  /**
   * Ends a response that has begun.
   *
   * @param status the trailers of the protocol
   * @param own further ones, which are omitted if Node does not send them
   * @param frame the last message
   * @param prefix what comes before it: joining them would copy a large message
   */
  end(
    status: OutgoingHttpHeaders,
    own?: OutgoingHttpHeaders,
    frame?: Uint8Array,
    prefix?: Buffer,
  ): void {
    this.#finish();
    this.#stream.on("wantTrailers", () => {
      this.#sendTrailers(status, own);
      endRequest(this.#stream);
    });
    if (frame === undefined) this.#stream.end();
    else {
      if (frame.length >= COUNTED_FROM_BYTES) {
        this.#taken = this.#unread.add(frame.length, () => this.cancel());
      }
      if (prefix !== undefined) {
        // Both go to Node in one write.
        this.#stream.cork();
        this.#stream.write(prefix);
      }
      this.#stream.end(frame);
    }
  }

  /** The whole response in headers, if none were sent. */
  endAtOnce(headers: OutgoingHttpHeaders): void {
    this.#stream.respond(headers, END_STREAM);
    this.#finish();
    endRequest(this.#stream);
  }

  /** Aborts the response. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** The client has read all of it, or has disconnected. */
  closed(): void {
    this.#taken?.();
    lingering.remove(this);
  }

  /** The client has not. */
  expire(): void {
    if (!this.#stream.closed) this.cancel();
  }

  /** Nobody could catch an error that is thrown here. */
  #sendTrailers(status: OutgoingHttpHeaders, own: OutgoingHttpHeaders | undefined): void {
    if (own !== undefined) {
      try {
        return this.#stream.sendTrailers({ ...own, ...status });
      } catch {
        // Retry without those.
      }
    }
    this.#stream.sendTrailers(status);
  }

  #finish(): void {
    this.#hasEnded = true;
    lingering.add(this, performance.now());
  }
}
