import type { ServerResponse } from "node:http";

/** How much of the body of a response was written. */
export interface Written {
  bytes: number;
  /** Whether the response was sent, or its client has gone. */
  isOver: boolean;
  /** Called when it is. */
  onOver: (() => void) | undefined;
}

type Write = (chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

/** Counts what is written to a response from now on, also by streams that are piped to it. */
export function countWritten(response: ServerResponse): Written {
  const written: Written = { bytes: 0, isOver: false, onOver: undefined };
  response.once("close", () => {
    written.isOver = true;
    written.onOver?.();
  });
  const target = response as unknown as { write: Write; end: Write };
  const { write, end } = target;
  target.write = function (this: ServerResponse, chunk, encoding, callback) {
    written.bytes += sizeOf(chunk, encoding);
    return write.call(this, chunk, encoding, callback);
  };
  target.end = function (this: ServerResponse, chunk, encoding, callback) {
    // Over HTTP/2, Node.js writes the last chunk with `write`.
    const before = written.bytes;
    const result = end.call(this, chunk, encoding, callback);
    if (written.bytes === before) written.bytes += sizeOf(chunk, encoding);
    return result;
  };
  return written;
}

function sizeOf(chunk: unknown, encoding: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.length;
  if (typeof chunk !== "string") return 0;
  const isNamed = typeof encoding === "string";
  return Buffer.byteLength(chunk, isNamed ? (encoding as BufferEncoding) : "utf8");
}
