import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../error/service-error.ts";
import type { Exchange } from "../../http/exchange/exchange.ts";
import { type BodySource, readBody } from "../../http/exchange/read-body.ts";
import type { CodecName, RequestReader } from "../../rpc/rpc-exchange.ts";
import { type MessageEncoding, requestEncoding, unpack } from "../../wire/compression.ts";
import { requestTooLarge } from "../../wire/envelope.ts";
import type { MessageAccount } from "../../wire/message-budget.ts";
import type { MessageDecoder } from "../../wire/message-decoder.ts";

/** The message of a unary request, which is its whole body, or a parameter of its query. */
export interface UnaryMessage {
  readonly encoding: MessageEncoding | undefined;
  /** Reads it, once. */
  read(): Promise<Uint8Array>;
}

/**
 * The body of a POST request. A class, as is its reader: V8 would keep literals with functions
 * beyond their calls, and all of the call with them.
 */
export class PostedMessage implements UnaryMessage, BodySource {
  readonly encoding: MessageEncoding | undefined;
  readonly limit: number;
  readonly #http: Exchange;

  /** @throws ServiceError for an unknown compression */
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
  /** Of a message that is being decompressed. */
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

  /** The call ended before its message was read. */
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

/** A request that a unary call does not allow. */
export function manyMessages(): never {
  throw new Error("this call is unary");
}

/** The query parameters of a Connect GET request; others are ignored. */
export interface GetRequest {
  /** The encoding of the message; undefined if it is unknown. */
  readonly codec: CodecName | undefined;
  /** @throws ServiceError INVALID_ARGUMENT */
  message(): UnaryMessage;
}

const NAMES = new Set(["connect", "encoding", "base64", "compression", "message"]);
/** Base64 for URLs; the padding may be left out. */
const BASE64_URL = /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?$/;
const ESCAPE = /%([0-9A-Fa-f]{2})?/g;

/** Reads the query of a Connect GET request; undefined for other requests. */
export function getRequestOf(query: string, maxBytes: number): GetRequest | undefined {
  const given = new Map<string, string[]>();
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    const name = equals < 0 ? part : part.slice(0, equals);
    if (!NAMES.has(name)) continue;
    const value = equals < 0 ? "" : part.slice(equals + 1);
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  if (!given.has("connect")) return undefined;
  const encoding = given.get("encoding")?.[0];
  return {
    codec: encoding === "proto" || encoding === "json" ? encoding : undefined,
    message: () => messageOf(given, maxBytes),
  };
}

function messageOf(given: ReadonlyMap<string, readonly string[]>, maxBytes: number): UnaryMessage {
  for (const [name, { length }] of given) {
    if (length > 1) throw invalid(`the query has ${name} more than once`);
  }
  if (given.get("connect")?.[0] !== "v1") throw invalid('connect must be "v1"');
  const text = given.get("message")?.[0];
  if (text === undefined) throw invalid("the query has no message");
  const base64 = given.get("base64")?.[0];
  if (base64 !== undefined && base64 !== "1") throw invalid('base64 must be "1" if it is given');
  const encoding = requestEncoding("compression", given.get("compression") ?? []);
  const data = base64 === undefined ? unescaped(text) : fromBase64(unescaped(text));
  if (data.length > maxBytes) throw requestTooLarge(maxBytes);
  return { encoding, read: () => Promise.resolve(data) };
}

/** The bytes of a value of a query: any bytes may be escaped, including bytes that are not text. */
function unescaped(text: string): Buffer {
  let isMalformed = false;
  const latin1 = text.replaceAll("+", " ").replace(ESCAPE, (_escape, digits?: string) => {
    if (digits === undefined) isMalformed = true;
    return String.fromCharCode(Number.parseInt(digits ?? "0", 16));
  });
  if (isMalformed) throw invalid("the query has an escape that is malformed");
  return Buffer.from(latin1, "latin1");
}

function fromBase64(text: Buffer): Buffer {
  const latin1 = text.toString("latin1");
  if (!BASE64_URL.test(latin1)) throw invalid("the message is not valid base64 for URLs");
  return Buffer.from(latin1, "base64url");
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
