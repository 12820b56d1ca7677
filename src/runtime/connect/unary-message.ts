import type { IncomingMessage, ServerResponse } from "node:http";
import type { Exchange } from "../http/exchange.ts";
import { type BodySource, readBody } from "../http/read-body.ts";
import type { RequestReader } from "../rpc/rpc-exchange.ts";
import type { MessageAccount } from "../wire/message-budget.ts";
import { type MessageEncoding, requestEncoding } from "../wire/message-encoding.ts";
import type { MessageDecoder } from "../wire/message-reader.ts";
import { unpack } from "../wire/unpack.ts";

/** The message of a unary request, which is its whole body, or a parameter of its query. */
export interface UnaryMessage {
  readonly encoding: MessageEncoding | undefined;
  /** Reads it, once. */
  read(): Promise<Uint8Array>;
}

/**
 * The body of a request that was posted. A class, as is its reader: V8 would keep literals with
 * functions beyond their calls, and all of the call with them.
 */
export class PostedMessage implements UnaryMessage, BodySource {
  readonly encoding: MessageEncoding | undefined;
  readonly limit: number;
  readonly #http: Exchange;

  /** @throws ServiceError for a compression that is not known */
  constructor(http: Exchange, limit: number) {
    this.encoding = requestEncoding("content-encoding", http.headers.all("content-encoding"));
    this.limit = limit;
    this.#http = http;
  }

  get incoming(): IncomingMessage {
    return this.#http.incoming;
  }

  get response(): ServerResponse {
    return this.#http.response;
  }

  get account(): MessageAccount {
    return this.#http.account;
  }

  read(): Promise<Uint8Array> {
    return readBody(this);
  }
}

/** Reads the one message of a request. */
export class UnaryReader<Message> implements RequestReader<Message> {
  readonly #message: UnaryMessage;
  readonly #decoder: MessageDecoder<Message>;
  readonly #account: MessageAccount;
  readonly #maxBytes: number;
  /** Of a message that is unpacked. */
  #unpacking: AbortController | undefined;
  #isCancelled = false;

  constructor(
    message: UnaryMessage,
    decoder: MessageDecoder<Message>,
    account: MessageAccount,
    maxBytes: number,
  ) {
    this.#message = message;
    this.#decoder = decoder;
    this.#account = account;
    this.#maxBytes = maxBytes;
  }

  async single(): Promise<Message> {
    const sent = await this.#message.read();
    const { encoding } = this.#message;
    const data = encoding === undefined ? sent : await this.#unpacked(encoding, sent);
    return this.#decoder.decode(data, this.#account);
  }

  /** The call is over before its message is read. */
  cancel(): void {
    this.#isCancelled = true;
    this.#unpacking?.abort();
  }

  #unpacked(encoding: MessageEncoding, data: Uint8Array): Promise<Uint8Array> {
    // It may wait for its turn.
    this.#account.take(data.length);
    this.#unpacking = new AbortController();
    if (this.#isCancelled) this.#unpacking.abort();
    return unpack(encoding, data, this.#maxBytes, this.#unpacking.signal);
  }

  messages(): never {
    return manyMessages();
  }
}

/** What nobody may ask of a call with one message each way. */
export function manyMessages(): never {
  throw new Error("this call has one message each way");
}
