import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import { PATIENCE } from "../../../support/patience.ts";
import { laxSession, metadataOf } from "../../hostile/support/lax-session.ts";
import { type Field, requestText, sendText } from "../../hostile/support/raw-http.ts";
import type { Wire } from "./protocols.ts";
import type { WireRequest } from "./wire-request.ts";

/** A response over either version of HTTP; the trailers of HTTP/2 are among its headers. */
export interface WireResponse {
  readonly status: number;
  /** Names in lower case; duplicates are separate entries. */
  readonly headers: readonly Field[];
  readonly body: Buffer;
}

/** Sends a request over a new connection; undefined if that ends without a response. */
export async function sendRequest(
  port: number,
  { version }: Pick<Wire, "version">,
  request: WireRequest,
): Promise<WireResponse | undefined> {
  if (version === "1.1") return overHttp1(port, request);
  const session = laxSession(port);
  try {
    return await overSession(session, request);
  } finally {
    session.destroy();
  }
}

async function overHttp1(
  port: number,
  { method, path, fields, body }: WireRequest,
): Promise<WireResponse | undefined> {
  const text = requestText(`${method} ${path}`, fields, body.toString("latin1"));
  // The server ends the connection after the response, however long it pauses within.
  const all = await sendText(port, text, PATIENCE);
  const responses = all.filter(({ status }) => status >= 200);
  if (responses.length > 1) throw new Error(`${responses.length} responses of one request`);
  const [response] = responses;
  if (response === undefined) return undefined;
  return { status: response.status, headers: response.headers, body: response.bytes };
}

/**
 * Sends a request as a stream of an HTTP/2 connection.
 *
 * @param watch gets the stream before any response
 */
export function overSession(
  session: ClientHttp2Session,
  { method, path, fields, body }: WireRequest,
  watch?: (stream: ClientHttp2Stream) => void,
): Promise<WireResponse | undefined> {
  return new Promise((resolve, reject) => {
    const head: OutgoingHttpHeaders = { ":method": method, ":path": path, ...metadataOf(fields) };
    const stream = session.request(head, { endStream: body.length === 0 && method !== "POST" });
    const headers: Field[] = [];
    const pieces: Buffer[] = [];
    let status = 0;
    const take = (raw: readonly string[]): void => {
      for (let index = 0; index < raw.length; index += 2) {
        headers.push([raw[index] as string, raw[index + 1] as string]);
      }
    };
    // Node's types lack the raw header list, which its documentation has.
    const onResponse = (
      some: OutgoingHttpHeaders,
      _flags: number,
      raw: readonly string[],
    ): void => {
      status = Number(some[":status"]);
      take(raw);
    };
    const onTrailers = (_some: OutgoingHttpHeaders, _flags: number, raw: readonly string[]): void =>
      take(raw);
    stream.on("response", onResponse as never).on("trailers", onTrailers as never);
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("error", (error) => status === 0 && session.destroyed && reject(error));
    stream.once("close", () =>
      resolve(status === 0 ? undefined : { status, headers, body: Buffer.concat(pieces) }),
    );
    if (watch !== undefined) watch(stream);
    if (!stream.writableEnded && !stream.closed) stream.end(body);
  });
}
