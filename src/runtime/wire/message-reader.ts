import type { Readable } from "node:stream";
import { status } from "../error/error-codes.ts";
import { ServiceError } from "../error/service-error.ts";
import { type MessageEncoding, unpack } from "./compression.ts";
import { type Envelope, EnvelopeParser } from "./envelope.ts";
import type { MessageAccount } from "./message-budget.ts";
import type { MessageDecoder } from "./message-decoder.ts";

/** How the request messages of a call are read. */
export interface ReaderSettings<Message> {
  readonly decoder: MessageDecoder<Message>;
  readonly maxBytes: number;
  /** The encoding of messages with the compressed flag. */
  readonly encoding: MessageEncoding | undefined;
  /** The memory of its messages. */
  readonly account: MessageAccount;
  /**
   * Whether the source has ended because the stream was aborted: Node reports the end of those,
   * too.
   */
  readonly isBrokenOff: () => boolean;
  /** Called for a refused message, so that the call ends even if nobody waits for messages. */
  readonly onRefused: (reason: ServiceError) => void;
}

interface Waiter {
  /** Whether it waits for the end as well, and not for one message. */
  readonly isSingle?: boolean;
  readonly resolve: (envelope: Envelope | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The messages of a stream, as they arrive. */
export interface ComingMessages {
  /** How many have arrived. */
  readonly count: number;
  /** Whether the next one is awaited; otherwise flow control may stop the client. */
  readonly isAwaited: boolean;
}

/**
 * Reads the enveloped messages of a request, one at a time on request. Until then flow control
 * stops the client.
 */
export class MessageReader<Message> implements ComingMessages {
  count = 0;
  readonly #source: Readable;
  readonly #settings: ReaderSettings<Message>;
  readonly #parser: EnvelopeParser;
  #waiter: Waiter | undefined;
  #isAttached = false;
  #hasEnded = false;
  #failure: ServiceError | undefined;
  /** Of a message that is being decompressed. */
  #unpacking: AbortController | undefined;
  /** The bytes of the only message, which has come and waits for the end. */
  #whole = 0;

  constructor(source: Readable, settings: ReaderSettings<Message>) {
    this.#source = source;
    this.#settings = settings;
    this.#parser = new EnvelopeParser(settings.maxBytes);
  }

  /**
   * The only message of the request: one promise for everything, since most calls are unary.
   *
   * @throws ServiceError INVALID_ARGUMENT if there is none or another one, or why the call was cancelled
   */
  single(): Promise<Message> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      let only: Envelope | undefined;
      // It is called again after each piece, and only the end shows that there is no other message.
      this.#waiter = {
        reject,
        resolve: (envelope) => {
          if (envelope === undefined) {
            if (only === undefined) return reject(this.#refused(count("no")));
            return this.#settle(only, resolve, reject);
          }
          if (only !== undefined) return reject(this.#refused(count("more than one")));
          only = envelope;
          this.#whole = envelope.data.length;
        },
        isSingle: true,
      };
      this.#attach();
    });
  }

  /** The messages one by one. */
  async *messages(): AsyncGenerator<Message> {
    this.#settings.account.lasts(this.#giveUp);
    for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
      // The consumer accounts for earlier messages.
      this.#settings.account.release();
      this.count++;
      const envelope = next;
      yield await new Promise<Message>((resolve, reject) =>
        this.#settle(envelope, resolve, reject),
      );
    }
  }

  get isAwaited(): boolean {
    return this.#waiter !== undefined;
  }

  /** Whether nothing is left that `cancel` would end: everything has arrived, and nobody waits. */
  get isOver(): boolean {
    if (this.#waiter !== undefined || this.#parser.size > 0) return false;
    return this.#failure !== undefined || (this.#hasEnded && this.#unpacking === undefined);
  }

  /** The call ended before its messages. */
  cancel(reason: ServiceError): void {
    this.#failure ??= reason;
    this.#detach();
    this.#unpacking?.abort();
    this.#parser.clear();
    this.#take()?.reject(this.#failure);
  }

  /** The next message; undefined after the last. Only one may be requested at a time. */
  #next(): Promise<Envelope | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#advance();
      if (this.#waiter === undefined) return;
      if (this.#isAttached) this.#source.resume();
      else this.#attach();
    });
  }

  /** Decodes a message; only for a compressed one is this asynchronous. */
  #settle(
    { isCompressed, data }: Envelope,
    resolve: (message: Message) => void,
    reject: (error: unknown) => void,
  ): void {
    const { maxBytes, encoding } = this.#settings;
    const fail = (error: unknown): void =>
      reject(this.#failure ?? this.#refused(error as ServiceError));
    const decode = (plain: Uint8Array): void => {
      try {
        resolve(this.#decoded(plain));
      } catch (error) {
        fail(error);
      }
    };
    if (!isCompressed) decode(data);
    else if (encoding === undefined) fail(notSaid());
    else {
      // It waits for its turn.
      try {
        this.#settings.account.take(data.length);
      } catch (error) {
        return fail(error);
      }
      this.#unpacking = new AbortController();
      unpack(encoding, data, maxBytes, this.#unpacking.signal).then(decode, fail);
    }
  }

  #decoded(data: Uint8Array): Message {
    const { decoder, account } = this.#settings;
    if (this.#failure !== undefined) throw this.#failure;
    this.#whole = 0;
    this.#count();
    return decoder.decode(data, account);
  }

  #attach(): void {
    this.#isAttached = true;
    this.#source.on("data", this.#onData).on("end", this.#onEnd);
    // For a request without messages Node reports the end even if nobody listens yet.
    if (this.#source.readableEnded) this.#onEnd();
  }

  #detach(): void {
    if (this.#isAttached) this.#source.off("data", this.#onData).off("end", this.#onEnd);
    this.#isAttached = false;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#parser.push(chunk);
    this.#advance();
    if (this.#waiter === undefined) this.#source.pause();
    if (this.#failure !== undefined) return;
    try {
      this.#count();
    } catch (error) {
      this.#giveUp(error as ServiceError);
    }
  };

  readonly #onEnd = (): void => {
    if (this.#settings.isBrokenOff()) return this.#giveUp(new ServiceError("CANCELLED"));
    this.#hasEnded = true;
    this.#advance();
  };

  /** Counts the bytes that have arrived and are not decoded. */
  #count(): void {
    this.#settings.account.receive(this.#parser.size + this.#whole, this.#giveUp);
  }

  /** Discards everything that has arrived. */
  readonly #giveUp = (reason: ServiceError): void => {
    const waiter = this.#take();
    const refused = this.#refused(reason);
    this.#unpacking?.abort();
    this.#parser.clear();
    waiter?.reject(refused);
  };

  /** Passes the next result to the waiter. */
  #advance(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    try {
      let envelope = this.#parser.next();
      while (envelope !== undefined) {
        if (waiter.isSingle !== true) return this.#take()?.resolve(envelope);
        waiter.resolve(envelope);
        envelope = this.#failure === undefined ? this.#parser.next() : undefined;
      }
      if (!this.#hasEnded) return;
      if (this.#parser.size > 0) {
        throw new ServiceError("INVALID_ARGUMENT", "the request ends within a message");
      }
      this.#take()?.resolve(undefined);
    } catch (error) {
      this.#take()?.reject(this.#refused(error as ServiceError));
    }
  }

  #refused(reason: ServiceError): ServiceError {
    if (this.#failure === undefined) {
      this.#failure = reason;
      this.#detach();
      this.#settings.onRefused(reason);
    }
    return reason;
  }

  #take(): Waiter | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }
}

/** INTERNAL and UNIMPLEMENTED are what the specification of gRPC has for these, and Connect likewise. */
function notSaid(): ServiceError {
  return new ServiceError(
    "INVALID_ARGUMENT",
    "a message is compressed, but the request does not name the encoding",
    { grpcStatus: status.INTERNAL },
  );
}

function count(what: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the request has ${what} message; it must have one`, {
    grpcStatus: status.UNIMPLEMENTED,
  });
}
