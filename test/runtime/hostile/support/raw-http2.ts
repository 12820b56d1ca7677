import { connect, type Socket } from "node:net";

/** The types of frames (RFC 9113, section 6). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;

export type HeaderList = readonly (readonly [name: string, value: string])[];

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function rawFrame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A number of 32 bits, as in most frames. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** A header block of literals without indexing: unchanged, one character per byte. */
export function headerBlock(list: HeaderList): Buffer {
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0x10), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  return Buffer.concat([integer(bytes.length, 7), bytes]);
}

/** An integer of HPACK after a prefix of some bits, which are otherwise zero. */
function integer(value: number, prefixBits: number): Buffer {
  const most = (1 << prefixBits) - 1;
  if (value < most) return Buffer.of(value);
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** A frame of the server. */
export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** An HTTP/2 client that sends any frames, and follows no rules. */
export class RawHttp2 {
  readonly socket: Socket;
  readonly received: ReceivedFrame[] = [];
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>;
  isClosed = false;
  #rest: Buffer = Buffer.alloc(0);
  #heard: () => void = () => undefined;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("error", () => undefined);
    this.socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => {
        this.isClosed = true;
        resolve();
        this.#heard();
      });
    });
    this.socket.write(Buffer.concat([PREFACE, rawFrame(FRAME.SETTINGS, 0, 0)]));
  }

  /** Sends bytes; resolves when the connection accepts more, or has ended. */
  async send(...parts: readonly Uint8Array[]): Promise<void> {
    if (this.isClosed || this.socket.write(Buffer.concat(parts))) return;
    await Promise.race([
      this.closed,
      new Promise<void>((resolve) => this.socket.once("drain", resolve)),
    ]);
  }

  /** The first frame that matches, received or future; undefined if the connection ends without one. */
  async frame(fits: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame | undefined> {
    for (;;) {
      const found = this.received.find(fits);
      if (found !== undefined || this.isClosed) return found;
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** The end of a stream: `RST 1`, `GOAWAY 1`, or `answered`. */
  async outcome(stream: number): Promise<string> {
    const last = await this.frame(
      ({ type, flags, stream: of }) =>
        type === FRAME.GOAWAY ||
        (of === stream && (type === FRAME.RST_STREAM || (flags & END_STREAM) !== 0)),
    );
    if (last === undefined) return "closed";
    if (last.type === FRAME.RST_STREAM) return `RST ${last.payload.readUInt32BE(0)}`;
    return last.type === FRAME.GOAWAY ? `GOAWAY ${last.payload.readUInt32BE(4)}` : "answered";
  }

  end(): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    let rest = Buffer.concat([this.#rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      this.received.push({
        type: rest[3] as number,
        flags: rest[4] as number,
        stream: rest.readUInt32BE(5) & 0x7fff_ffff,
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
    this.#rest = rest;
    this.#heard();
  }
}
