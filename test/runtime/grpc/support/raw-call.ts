import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { decodeStatusDetails } from "../../../../src/runtime/error/status-details.ts";

/** What a server answered, headers and trailers together. */
export interface RawAnswer {
  readonly httpStatus: number;
  readonly grpcStatus: number | undefined;
  readonly message: string;
  readonly reason: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The code of the stream's error, where it had one. */
  readonly streamError: string | undefined;
}

/** Opens a connection that a test may do anything on. */
export function rawSession(port: number): ClientHttp2Session {
  // What a test sends at once is more than Node's client would keep.
  const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1000 });
  session.on("error", () => undefined);
  return session;
}

/** A message with its prefix. */
export function frame(data: Uint8Array, flag = 0, length = data.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, data]);
}

/** Makes a gRPC call by hand: any headers, any bytes. */
export function rawCall(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body: Uint8Array | null = frame(new Uint8Array()),
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let received: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let streamError: string | undefined;
    const pieces: Buffer[] = [];
    stream.on("response", (answer) => {
      received = answer;
    });
    stream.on("trailers", (answer) => {
      trailers = answer;
    });
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("error", (error: NodeJS.ErrnoException) => {
      streamError = error.message;
    });
    stream.on("close", () => {
      const all = { ...received, ...trailers };
      const details = all["grpc-status-details-bin"];
      resolve({
        httpStatus: Number(received[":status"] ?? 0),
        grpcStatus: all["grpc-status"] === undefined ? undefined : Number(all["grpc-status"]),
        message: decodeURIComponent(String(all["grpc-message"] ?? "")),
        reason:
          typeof details === "string"
            ? decodeStatusDetails(Buffer.from(details, "base64"))?.reason
            : undefined,
        headers: received,
        trailers,
        body: Buffer.concat(pieces),
        streamError,
      });
    });
    // null leaves the request open.
    if (body !== null) stream.end(body);
  });
}
