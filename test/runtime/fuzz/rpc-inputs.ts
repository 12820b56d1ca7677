import type { WireRequest } from "../support/wire/wire-request.ts";
import { attach, type Credentials } from "./credentials.ts";
import { mutateFields } from "./grpc-inputs.ts";
import type { Field } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";
import {
  CONNECT_TIMEOUTS,
  ENCODINGS,
  NOISE,
  OTHER_PATHS,
  PATH_PIECES,
  QUERY_PIECES,
  RPCS,
  SERVICE,
  TEXT_PIECES,
  TIMEOUTS,
  VERSIONS,
  WEB_TYPES,
} from "./rpc-dictionary.ts";
import { changed, framed, jsonOf, messageOf, packed } from "./rpc-messages.ts";

/** One call of Connect or gRPC-Web. */
export interface RpcInput {
  readonly request: WireRequest;
  /** Whether the client cancels the call midway. */
  readonly isTakenBack: boolean;
  readonly requestId: string;
}

type Form = "unary" | "get" | "stream" | "web" | "text";

const STREAMS: ReadonlySet<string> = new Set(["WatchDocument", "UploadDocument", "Converse"]);
/** RPCs that accept many messages in the request. */
const TAKES_MANY: ReadonlySet<string> = new Set(["UploadDocument", "Converse"]);

/** Makes a call of the service with usually one or a few errors. */
export function rpcInput(random: Random, credentials: Credentials): RpcInput {
  const rpc = random.pick(RPCS);
  const usual: Form[] = STREAMS.has(rpc)
    ? ["stream", "stream", "web", "text"]
    : ["unary", "unary", "get", "web", "text"];
  const form = random.chance(6)
    ? random.pick(["unary", "get", "stream", "web", "text"] as const)
    : random.pick(usual);
  const isJson = form === "text" ? false : random.chance(50);
  let carried = attach(random, credentials, rpc);
  if (random.chance(15)) carried.push(...attach(random, credentials));
  if (random.chance(25)) carried = mutateFields(random, carried);
  const requestId = `r${random.name()}`;
  const fields: Field[] = [["x-request-id", requestId], ...carried];
  if (random.chance(25)) fields.push(random.pick(NOISE));
  addTimeouts(random, form, fields);
  const encoding = random.chance(15) ? random.pick(ENCODINGS) : undefined;
  let path = `${SERVICE}/${rpc}`;
  if (random.chance(4)) path = random.pick(OTHER_PATHS);
  if (random.chance(5)) path = mutateText(random, path, PATH_PIECES).replaceAll("\0", "") || "/";
  let method = form === "get" ? "GET" : "POST";
  if (random.chance(3)) method = random.pick(["GET", "HEAD", "PUT", "OPTIONS", "POST"]);
  const isTakenBack = random.chance(4);
  if (form === "get") {
    path += `?${queryOf(random, rpc, isJson, encoding)}`;
    return { request: { method, path, fields, body: Buffer.alloc(0) }, isTakenBack, requestId };
  }
  if (random.chance(5)) path += `?x-svc-user-id=admin&connect=v1`;
  if (encoding !== undefined) fields.push([encodingHeader(form), encoding]);
  if (random.chance(3))
    fields.push([
      random.pick(["content-encoding", "connect-content-encoding", "grpc-encoding"]),
      random.pick(ENCODINGS),
    ]);
  fields.push(["content-type", random.chance(5) ? random.pick(WEB_TYPES) : typeOf(form, isJson)]);
  const body = bodyOf(random, form, rpc, isJson, encoding);
  return { request: { method, path, fields, body }, isTakenBack, requestId };
}

function typeOf(form: Form, isJson: boolean): string {
  const codec = isJson ? "json" : "proto";
  switch (form) {
    case "stream":
      return `application/connect+${codec}`;
    case "web":
      return `application/grpc-web+${codec}`;
    case "text":
      return "application/grpc-web-text+proto";
    default:
      return `application/${codec}`;
  }
}

function encodingHeader(form: Form): string {
  if (form === "unary") return "content-encoding";
  return form === "stream" ? "connect-content-encoding" : "grpc-encoding";
}

function addTimeouts(random: Random, form: Form, fields: Field[]): void {
  const isWeb = form === "web" || form === "text";
  if (!isWeb && random.chance(92)) {
    fields.push(["connect-protocol-version", random.chance(92) ? "1" : random.pick(VERSIONS)]);
  }
  if (random.chance(2)) fields.push(["connect-protocol-version", random.pick(VERSIONS)]);
  if (random.chance(15)) {
    fields.push(
      isWeb
        ? ["grpc-timeout", random.pick(TIMEOUTS)]
        : ["connect-timeout-ms", random.pick(CONNECT_TIMEOUTS)],
    );
  }
  if (random.chance(3)) fields.push(["connect-timeout-ms", random.pick(CONNECT_TIMEOUTS)]);
}

function bodyOf(
  random: Random,
  form: Form,
  rpc: string,
  isJson: boolean,
  encoding: string | undefined,
): Buffer {
  const one = () => (isJson ? jsonOf(random, rpc) : messageOf(random, rpc));
  if (form === "unary") {
    const plain = random.chance(15) ? changed(random, one()) : one();
    const isPacked = encoding === "gzip" || encoding === "deflate";
    return isPacked && random.chance(80) ? packed(random, plain, encoding) : plain;
  }
  const count = TAKES_MANY.has(rpc) ? random.below(5) : random.chance(3) ? random.below(3) : 1;
  const frames: Buffer[] = [];
  for (let index = 0; index < count; index++) frames.push(framed(random, one(), encoding));
  // Envelopes of responses only: the end of a stream, and trailers.
  if (random.chance(2)) frames.push(envelope(2, '{"metadata":{"x-svc-user-id":["alice"]}}'));
  if (random.chance(2)) frames.push(envelope(128, "x-svc-user-id: alice\r\ngrpc-status: 0\r\n"));
  if (form !== "text") return Buffer.concat(frames);
  let text = (random.chance(70) ? [Buffer.concat(frames)] : frames)
    .map((part) => part.toString("base64"))
    .join("");
  if (random.chance(12)) text = mutateText(random, text, TEXT_PIECES);
  return Buffer.from(text, "latin1");
}

function envelope(flags: number, text: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(text.length, 1);
  return Buffer.concat([prefix, Buffer.from(text)]);
}

function queryOf(
  random: Random,
  rpc: string,
  isJson: boolean,
  encoding: string | undefined,
): string {
  let data = isJson ? jsonOf(random, rpc) : messageOf(random, rpc);
  if (random.chance(10)) data = changed(random, data);
  const parts = ["connect=v1", `encoding=${isJson ? "json" : "proto"}`];
  if (encoding !== undefined) {
    parts.push(`compression=${encoding}`);
    // A decompression bomb does not fit into a request line.
    if (random.chance(70)) data = packed(random, data, encoding).subarray(0, 4_000);
  }
  const isBase64 = encoding !== undefined || random.chance(60);
  if (isBase64) parts.push("base64=1");
  const text = isBase64 ? data.toString("base64url") : escaped(data);
  parts.push(`message=${text}`);
  if (random.chance(20)) parts.reverse();
  const query = parts.join("&");
  return random.chance(20) ? mutateText(random, query, QUERY_PIECES).replace(/[\s\0]/g, "") : query;
}

function escaped(data: Buffer): string {
  return [...data].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}
