import { ServiceError } from "../error/service-error.ts";
import type { CodecName } from "../rpc/rpc-exchange.ts";
import { requestTooLarge } from "../wire/envelope.ts";
import { requestEncoding } from "../wire/message-encoding.ts";
import type { UnaryMessage } from "./unary-message.ts";

/** What a request of Connect by GET has in its query; what else stands there is for nobody. */
export interface GetRequest {
  /** How the message is encoded; undefined where that is not known. */
  readonly codec: CodecName | undefined;
  /** @throws ServiceError INVALID_ARGUMENT */
  message(): UnaryMessage;
}

const NAMES = new Set(["connect", "encoding", "base64", "compression", "message"]);
/** Base64 for URLs; the padding may be left out. */
const BASE64_URL = /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?$/;
const ESCAPE = /%([0-9A-Fa-f]{2})?/g;

/** Reads a query as Connect has it; undefined where it does not say that it is Connect's. */
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
  if (base64 !== undefined && base64 !== "1")
    throw invalid('base64 must be "1", where it is given');
  const encoding = requestEncoding("compression", given.get("compression") ?? []);
  const data = base64 === undefined ? unescaped(text) : fromBase64(unescaped(text));
  if (data.length > maxBytes) throw requestTooLarge(maxBytes);
  return { encoding, read: () => Promise.resolve(data) };
}

/** The bytes of a value of a query: any bytes may be escaped, also such that are no text. */
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
