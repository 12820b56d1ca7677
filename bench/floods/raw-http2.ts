import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { rawFrame } from "../../test/runtime/hostile/support/raw-http2.ts";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME = { DATA: 0, HEADERS: 1, RST_STREAM: 3, SETTINGS: 4, PING: 6 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;

/**
 * A connection of HTTP/2 by hand: a client that keeps its books for each stream would be a larger
 * flood than the server's. It answers pings and settings, and counts the streams that end.
 */
export class RawHttp2 {
  ended = 0;
  /** The streams that the server has reset. */
  reset = 0;
  readonly #socket: Socket;
  #next = 1;
  #left = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined).on("data", (data: Buffer) => this.#take(data));
    socket.write(Buffer.concat([Buffer.from(PREFACE), rawFrame(FRAME.SETTINGS, 0, 0)]));
  }

  static async connect(port: number): Promise<RawHttp2> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawHttp2(socket);
  }

  /**
   * Opens gRPC calls of a path.
   *
   * @param message is sent in each, after its prefix; undefined leaves the request open and empty
   * @param further headers of each
   */
  async open(
    path: string,
    count: number,
    message?: Uint8Array,
    further: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const headers = headersOf(path, further);
    const frames: Buffer[] = [];
    for (let index = 0; index < count; index++, this.#next += 2) {
      frames.push(rawFrame(FRAME.HEADERS, END_HEADERS, this.#next, headers));
      if (message !== undefined) frames.push(rawFrame(FRAME.DATA, END_STREAM, this.#next, message));
    }
    await new Promise((resolve) => this.#socket.write(Buffer.concat(frames), resolve));
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    let left = Buffer.concat([this.#left, data]);
    while (left.length >= 9 && left.length >= 9 + left.readUIntBE(0, 3)) {
      const length = left.readUIntBE(0, 3);
      const [type, flags] = [left[3], left[4] ?? 0];
      if (type === FRAME.SETTINGS && (flags & ACK) === 0) {
        this.#socket.write(rawFrame(FRAME.SETTINGS, ACK, 0));
      } else if (type === FRAME.PING && (flags & ACK) === 0) {
        this.#socket.write(rawFrame(FRAME.PING, ACK, 0, left.subarray(9, 9 + length)));
      } else if (type === FRAME.HEADERS && (flags & END_STREAM) !== 0) {
        this.ended++;
      } else if (type === FRAME.RST_STREAM) {
        this.reset++;
      }
      left = left.subarray(9 + length);
    }
    this.#left = left;
  }
}

/** In HPACK, without its table and without Huffman's code. */
function headersOf(path: string, further: Readonly<Record<string, string>>): Buffer {
  const literal = (name: string, value: string) => [0, name.length, name, value.length, value];
  return Buffer.concat(
    [
      ...literal(":method", "POST"),
      ...literal(":scheme", "http"),
      ...literal(":path", path),
      ...literal(":authority", "localhost"),
      ...literal("content-type", "application/grpc"),
      ...literal("te", "trailers"),
      ...Object.entries(further).flatMap(([name, value]) => literal(name, value)),
    ].map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part))),
  );
}
