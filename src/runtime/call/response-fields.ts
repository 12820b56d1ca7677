import type { Transport } from "./transports.ts";

/** Headers or trailers that a handler set, by names in lower case; one that was appended to has several values. */
export type ResponseMetadata = ReadonlyMap<string, string | readonly string[]>;

/**
 * The most bytes of all headers, or of all trailers, names and values. Clients limit them, and
 * headers that do not fit into an HTTP/2 frame would end the whole connection.
 */
export const MAX_METADATA_BYTES = 16 * 1024;

/** The most values of all headers, or of all trailers: each takes some bytes beside its own. */
export const MAX_METADATA_VALUES = 512;

/** Names that Node sends over HTTP/2 with one value only, and that have no meaning with several. */
const SINGLE: ReadonlySet<string> = new Set([
  "access-control-allow-credentials",
  "access-control-max-age",
  "access-control-request-method",
  "age",
  "authorization",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "content-type",
  "date",
  "dnt",
  "etag",
  "expires",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "range",
  "referer",
  "retry-after",
  "tk",
  "upgrade-insecure-requests",
  "user-agent",
  "x-content-type-options",
]);

/** Names that end so have bytes as their value, in base64. */
const BINARY_SUFFIX = "-bin";

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const METADATA_NAME = /^[\w.-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const METADATA_VALUE = /^[\x20-\x7e]*$/;

/**
 * The headers, or the trailers, of one response. A value that cannot be sent is an error of the
 * handler, and is logged as such.
 */
export class ResponseFields {
  readonly #transport: Transport;
  readonly #what: "header" | "trailer";
  readonly #values = new Map<string, string | readonly string[]>();
  #bytes = 0;
  #count = 0;

  constructor(transport: Transport, what: "header" | "trailer") {
    this.#transport = transport;
    this.#what = what;
  }

  /** Undefined if none was set. */
  get values(): ResponseMetadata | undefined {
    return this.#values.size === 0 ? undefined : this.#values;
  }

  /** @throws TypeError for what cannot be sent */
  set(name: string, value: string): void {
    this.#check(name, value);
    const lower = name.toLowerCase();
    const before = this.#values.get(lower);
    if (before === undefined) this.#add(sizeOf(lower, value), 1);
    else this.#add(sizeOf(lower, value) - sizeOf(lower, before), 1 - countOf(before));
    this.#values.set(lower, value);
  }

  /** @throws TypeError for what cannot be sent, as a second value of a name that has one only */
  append(name: string, value: string): void {
    this.#check(name, value);
    const lower = name.toLowerCase();
    const before = this.#values.get(lower);
    if (before !== undefined && SINGLE.has(lower)) {
      throw new TypeError(
        `the response ${this.#what} ${lower} already has a value and can have only one: set it instead`,
      );
    }
    this.#add(sizeOf(lower, value), 1);
    this.#values.set(lower, before === undefined ? value : [before, value].flat());
  }

  #check(name: string, value: string): void {
    // The others have metadata, which must fit into text as well.
    const isHttp = this.#transport === "http";
    if (!(isHttp ? HEADER_NAME : METADATA_NAME).test(name)) {
      throw new TypeError(`${JSON.stringify(name)} is not a name of a response ${this.#what}`);
    }
    if (typeof value !== "string" || !(isHttp ? HEADER_VALUE : METADATA_VALUE).test(value)) {
      throw new TypeError(`the response ${this.#what} ${name} has a value that cannot be sent`);
    }
  }

  #add(bytes: number, values: number): void {
    checkFields(this.#what, this.#bytes + bytes, this.#count + values);
    this.#bytes += bytes;
    this.#count += values;
  }
}

/**
 * Refuses headers, or trailers, that exceed the limits of clients and HTTP/2.
 *
 * @param bytes of all names and values
 * @param values how many there are
 * @throws TypeError
 */
export function checkFields(what: "header" | "trailer", bytes: number, values: number): void {
  if (bytes > MAX_METADATA_BYTES) {
    throw new TypeError(
      `the response ${what}s are larger than ${MAX_METADATA_BYTES} bytes: send large values in the message`,
    );
  }
  if (values > MAX_METADATA_VALUES) {
    throw new TypeError(
      `the response ${what}s have more than ${MAX_METADATA_VALUES} values: send what is that much in the message`,
    );
  }
}

function countOf(value: string | readonly string[]): number {
  return typeof value === "string" ? 1 : value.length;
}

function sizeOf(name: string, value: string | readonly string[]): number {
  if (typeof value === "string") return name.length + value.length;
  return value.reduce((sum, each) => sum + name.length + each.length, 0);
}

/**
 * A value in the wire form of gRPC and Connect; clients fail on a binary value that is not valid
 * base64.
 */
export function sentValue(name: string, value: string): string {
  return name.endsWith(BINARY_SUFFIX) ? binaryValue(Buffer.from(value, "base64")) : value;
}

/** A binary value in the wire form of gRPC and Connect: base64 without padding. */
export function binaryValue(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  return Buffer.from(buffer, byteOffset, length).toString("base64").replace(/=+$/, "");
}
