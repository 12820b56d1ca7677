import { decodeStatusDetails } from "../../../../src/runtime/error/status-details.ts";
import type { Wire } from "./protocols.ts";
import type { WireResponse } from "./send-request.ts";
import type { WireCall } from "./wire-request.ts";

/** The content of a response, in the terms of its protocol. */
export interface WireAnswer {
  readonly httpStatus: number;
  /** The outcome in the protocol: Connect's code, the gRPC number or the HTTP status; undefined for an error before any protocol. */
  readonly code: string | undefined;
  /** Our code of an error; undefined without an error, and if only the status is reported. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** The responses, in the encoding of the protocol. */
  readonly answers: readonly Buffer[];
  readonly requestId: string | undefined;
  /** Additional members of our HTTP errors. */
  readonly body: string | undefined;
}

/** Reads a response strictly by its protocol, and throws if it is not valid there. */
export function readResponse(wire: Wire, call: WireCall, response: WireResponse): WireAnswer {
  const { status: httpStatus, headers } = response;
  const requestId = only(headers, "x-request-id");
  const type = only(headers, "content-type") ?? "";
  const of = (part: Partial<WireAnswer>): WireAnswer => ({
    httpStatus,
    code: undefined,
    reason: undefined,
    message: undefined,
    answers: [],
    body: undefined,
    ...part,
    requestId,
  });
  if (type.startsWith("text/plain")) return of({ message: response.body.toString().trim() });
  switch (wire.form) {
    case "route":
      return of(routeAnswer(response, call.isStreaming));
    case "grpc":
      return of(grpcAnswer(type, "application/grpc+", headers, envelopes(response.body)));
    case "connect":
    case "connect_get":
      return of(
        call.isStreaming ? connectStream(wire, type, response) : connectUnary(wire, type, response),
      );
    case "grpc_web":
      return of(webAnswer(type, `application/grpc-web+${wire.codec}`, response.body));
    case "grpc_web_text":
      return of(webAnswer(type, "application/grpc-web-text+proto", fromText(response.body)));
  }
}

type Part = Partial<WireAnswer>;
type Headers = WireResponse["headers"];

function only(headers: Headers, name: string): string | undefined {
  // Headers and trailers may have the same field.
  const values = new Set(headers.filter(([one]) => one === name).map(([, value]) => value));
  if (values.size > 1) throw new Error(`${name} has ${values.size} values`);
  return [...values][0];
}

function routeAnswer({ status, body }: WireResponse, isStreaming: boolean): Part {
  const text = body.toString();
  if (status === 200) {
    const lines = isStreaming ? text.split("\n").filter((line) => line !== "") : [text];
    const error = isStreaming ? lastWords(lines.at(-1)) : undefined;
    if (error !== undefined) lines.pop();
    const answers = lines.map((line) => Buffer.from(line));
    if (error === undefined) return { code: "200", answers };
    return { code: String(error.status), reason: error.code, message: error.message, answers };
  }
  const { code, message } = JSON.parse(text) as { code: string; message: string };
  return { code: String(status), reason: code, message, body: text };
}

/** The error that ends a stream of lines, if any. */
function lastWords(line = "{}"): { status: number; code: string; message: string } | undefined {
  return (JSON.parse(line) as { error?: { status: number; code: string; message: string } }).error;
}

interface ConnectErrorJson {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { type: string; value: string; debug?: { reason?: string } }[];
}

function connectUnary({ codec }: Wire, type: string, { status, body }: WireResponse): Part {
  if (status === 200) {
    if (type !== `application/${codec}`) throw new Error(`the type of the answer is ${type}`);
    return { code: "ok", answers: [body] };
  }
  if (type !== "application/json") throw new Error(`the type of the error is ${type}`);
  return connectError(JSON.parse(body.toString()) as ConnectErrorJson);
}

function connectStream({ codec }: Wire, type: string, { status, body }: WireResponse): Part {
  if (status !== 200 || type !== `application/connect+${codec}`) {
    throw new Error(`${status} ${type} is not a stream`);
  }
  const all = envelopes(body);
  const last = all.pop();
  if (last?.flags !== 2) throw new Error("the stream has no end");
  const end = JSON.parse(last.data.toString()) as { error?: ConnectErrorJson };
  const part = end.error === undefined ? { code: "ok" } : connectError(end.error);
  return { ...part, answers: all.map(({ data }) => data) };
}

function connectError({ code, message, details }: ConnectErrorJson): Part {
  const info = details.find(({ type }) => type === "google.rpc.ErrorInfo");
  const bytes = Buffer.from(info?.value ?? "", "base64");
  // The first field of an ErrorInfo, which is shorter than 128 bytes.
  const reason =
    bytes[0] === 0x0a ? bytes.toString("utf8", 2, 2 + (bytes[1] as number)) : undefined;
  if (reason !== info?.debug?.reason) throw new Error("the two forms of the reason differ");
  return { code, message, reason };
}

interface Enveloped {
  readonly flags: number;
  readonly data: Buffer;
}

function envelopes(body: Buffer): Enveloped[] {
  const all: Enveloped[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if (end > body.length) throw new Error("the last envelope is cut off");
    all.push({ flags: body[at] as number, data: body.subarray(at + 5, end) });
    at = end;
  }
  return all;
}

function webAnswer(type: string, expected: string, body: Buffer): Part {
  const all = envelopes(body);
  const last = all.pop();
  if (last?.flags !== 128) throw new Error("the response has no trailers");
  const trailers = last.data
    .toString("latin1")
    .split("\r\n")
    .filter((line) => line !== "")
    .map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  return grpcAnswer(type, expected, trailers, all);
}

function grpcAnswer(type: string, expected: string, trailers: Headers, all: Enveloped[]): Part {
  if (!type.startsWith(expected)) throw new Error(`the type of the response is ${type}`);
  if (all.some(({ flags }) => flags !== 0)) throw new Error("an envelope has flags");
  const code = only(trailers, "grpc-status");
  if (code === undefined) throw new Error("there is no status");
  const answers = all.map(({ data }) => data);
  if (code === "0") return { code, answers };
  const details = only(trailers, "grpc-status-details-bin") ?? "";
  const reason = decodeStatusDetails(Buffer.from(details, "base64"))?.reason;
  return {
    code,
    reason,
    message: decodeURIComponent(only(trailers, "grpc-message") ?? ""),
    answers,
  };
}

/** Consecutive parts of base64, each with its padding. */
function fromText(body: Buffer): Buffer {
  const parts = body.toString("latin1").match(/[^=]+=*/g) ?? [];
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}
