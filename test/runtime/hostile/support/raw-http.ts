import { connect } from "node:net";
import { PATIENCE } from "../../../support/patience.ts";

/** One response, as received. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case; duplicates are separate entries. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** The same as bytes. */
  readonly bytes: Buffer;
}

/** A name and a value, sent unchanged. */
export type Field = readonly [name: string, value: string];

/** The text of a request: fields unchanged, one character per byte. */
export function requestText(
  line: string,
  fields: readonly Field[],
  body = "",
  closes = true,
): string {
  const own = fields.map(([name]) => name.toLowerCase());
  const all: Field[] = [...(own.includes("host") ? [] : [["Host", "vault"] as const]), ...fields];
  if (body !== "" && !own.includes("content-length") && !own.includes("transfer-encoding")) {
    all.push(["Content-Length", String(Buffer.byteLength(body, "latin1"))]);
  }
  if (closes && !own.includes("connection")) all.push(["Connection", "close"]);
  const lines = all.map(([name, value]) => `${name}: ${value}`);
  return [`${line} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/**
 * Sends bytes over one connection and reads until the server ends it, or until it is silent for
 * a while after the first byte. That it sends no byte at all, and does not end the connection either, is an error.
 */
export function sendText(port: number, text: string, silenceMs = 2_000): Promise<RawResponse[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let isConnected = false;
    const socket = connect(port, "127.0.0.1");
    const done = () => {
      socket.destroy();
      resolve(parseResponses(Buffer.concat(chunks).toString("latin1")));
    };
    socket.setTimeout(PATIENCE, () => {
      if (chunks.length === 0) reject(new Error(`the server sent nothing for ${PATIENCE} ms`));
      done();
    });
    socket.once("connect", () => {
      isConnected = true;
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      socket.setTimeout(silenceMs);
    });
    // A server may reset a connection; that there is none is not its response.
    socket.on("error", (error) => isConnected || reject(error));
    socket.once("close", done);
    socket.write(Buffer.from(text, "latin1"));
  });
}

/** Splits consecutive responses; the last one may be incomplete. */
export function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = text;
  while (rest.startsWith("HTTP/1.1 ")) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) break;
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = lines.map((line): Field => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    const status = Number(statusLine.slice(9, 12));
    const { body, length } = bodyOf(status, headers, rest.slice(end + 4));
    const bytes = Buffer.from(body, "latin1");
    responses.push({ status, headers, body: bytes.toString("utf8"), bytes });
    rest = rest.slice(end + 4 + length);
  }
  return responses;
}

function bodyOf(
  status: number,
  headers: readonly Field[],
  rest: string,
): { body: string; length: number } {
  const value = (name: string) => headers.find(([one]) => one === name)?.[1];
  if (status < 200 || status === 204) return { body: "", length: 0 };
  if (value("transfer-encoding") !== "chunked") {
    const length = Number(value("content-length") ?? 0);
    return { body: rest.slice(0, length), length };
  }
  let body = "";
  let at = 0;
  for (;;) {
    const line = rest.indexOf("\r\n", at);
    const size = line < 0 ? Number.NaN : Number.parseInt(rest.slice(at, line), 16);
    if (!(size > 0)) return { body, length: line < 0 ? rest.length : line + 4 };
    body += rest.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

export function headerOf(response: RawResponse, name: string): string | undefined {
  return response.headers.find(([one]) => one === name)?.[1];
}
