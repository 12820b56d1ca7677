import { once } from "node:events";
import {
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { v1 } from "@authzed/authzed-node";

/** The answer of a fake: its messages, and the end of the call. */
export interface FakeAnswer {
  readonly messages?: Iterable<Uint8Array>;
  /** The gRPC status; absent is 0. */
  readonly status?: number;
  readonly details?: string;
  /** Instead of a status, the server stays silent or the connection breaks. */
  readonly instead?: "silence" | "break";
}

/** A server whose answers a test determines, for cases that a real SpiceDB cannot be made to produce. */
export interface FakeSpicedb {
  readonly endpoint: string;
  /** The called methods, in order. */
  readonly calls: string[];
  close(): Promise<void>;
}

/** A text encoded like a ZedToken: field 3 of a message. */
export function zedToken(text: string): string {
  return Buffer.from([0x1a, text.length, ...Buffer.from(text)]).toString("base64");
}

/** The answer to a request for the newest state. */
export function newestState(text: string): FakeAnswer {
  const readAt = { token: zedToken(text) };
  return { messages: [v1.ReadSchemaResponse.toBinary({ schemaText: "", readAt })] };
}

/** @param answer returns the answer to a call of a method with a message */
export async function startFakeSpicedb(
  answer: (method: string, message: Uint8Array) => FakeAnswer,
): Promise<FakeSpicedb> {
  const calls: string[] = [];
  const sessions = new Set<Http2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined).on("close", () => sessions.delete(session));
  });
  server.on("stream", async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => undefined);
    const method = String(headers[":path"]).split("/").at(-1) ?? "";
    const message = await readMessage(stream);
    calls.push(method);
    await respond(stream, answer(method, message));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { endpoint: `127.0.0.1:${port}`, calls, close };
}

async function respond(stream: ServerHttp2Stream, answer: FakeAnswer): Promise<void> {
  const { messages = [], status = 0, details = "", instead } = answer;
  if (instead === "break") {
    stream.session?.destroy();
    return;
  }
  stream.respond(
    { ":status": 200, "content-type": "application/grpc" },
    { waitForTrailers: instead === undefined },
  );
  stream.on("wantTrailers", () =>
    stream.sendTrailers({
      "grpc-status": String(status),
      "grpc-message": encodeURIComponent(details),
    }),
  );
  for (const message of messages) {
    if (stream.destroyed) return;
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    if (!stream.write(Buffer.concat([head, message]))) await writable(stream);
  }
  if (instead === undefined && !stream.destroyed) stream.end();
}

/** Waits until more can be written, or the reader has gone. */
async function writable(stream: ServerHttp2Stream): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  const events = [once(stream, "drain", { signal }), once(stream, "close", { signal })];
  await Promise.race(events).finally(() => gone.abort());
  await Promise.allSettled(events);
}

/** The one message of a call, without the five bytes in front of it. */
async function readMessage(stream: ServerHttp2Stream): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).subarray(5);
}
