import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  rawFrame,
  uint32,
} from "../test/runtime/hostile/support/raw-http2.ts";

const CONNECTIONS = 4;
const CALLS_OF_CONNECTION = 16;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const ACK = 1;
const LARGEST_WINDOW = 2 ** 31 - 1;
const FIRST_WINDOW = 65_535;
/** Where the dynamic table of HPACK begins. */
const FIRST_DYNAMIC = 62;

/** A unary call of gRPC: its headers, in the order in which they are sent, and its messages, of which each call sends one. */
export interface GrpcCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly Uint8Array[];
}

/**
 * Makes a call again and again, some at a time on each of some connections. Its frames are written
 * by hand: a client that keeps its books for each call takes longer than a server, and would be
 * what is measured.
 *
 * @returns how many were answered
 */
export async function loadGrpc(port: number, call: GrpcCall, milliseconds: number) {
  await checkAnswer(port, call);
  const connections = Array.from({ length: CONNECTIONS }, () => new LoadConnection(port, call));
  const work = Promise.all(connections.map((connection) => connection.done));
  const timer = setTimeout(() => {
    for (const connection of connections) connection.finish();
  }, milliseconds);
  try {
    await work;
  } finally {
    clearTimeout(timer);
    for (const connection of connections) connection.destroy();
  }
  return connections.reduce((sum, { calls }) => sum + calls, 0);
}

/** One call by a client that understands all of its answer. */
async function checkAnswer(port: number, { headers, messages }: GrpcCall): Promise<void> {
  const session: ClientHttp2Session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({ ...headers });
    stream.resume().end(envelope(messages[0] ?? Buffer.alloc(0)));
    const [trailers] = (await once(stream, "trailers")) as [Record<string, string>];
    if (trailers["grpc-status"] !== "0") throw new Error(`status ${JSON.stringify(trailers)}`);
    await once(stream, "close");
  } finally {
    session.destroy();
  }
}

class LoadConnection {
  calls = 0;
  readonly done: Promise<void>;
  readonly #socket: Socket;
  readonly #fields: readonly (readonly [string, string])[];
  readonly #bodies: readonly Buffer[];
  /** Where it begins in them: not each load with the same ones. */
  readonly #from: number;
  #next = 1;
  #underWay = 0;
  #withMessage = 0;
  #left: Buffer = Buffer.alloc(0);
  #isOver = false;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(port: number, { headers, messages }: GrpcCall) {
    this.#fields = Object.entries(headers);
    this.#bodies = messages.map(envelope);
    this.#from = Math.floor(Math.random() * messages.length);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#socket = connect(port, "127.0.0.1", () => this.#begin());
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (data: Buffer) => this.#take(data)).on("error", this.#reject);
  }

  /** Begins no more calls. */
  finish(): void {
    this.#isOver = true;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #begin(): void {
    // The windows of the connection and of its streams, as large as they may be.
    const settings = Buffer.concat([Buffer.of(0, 4), uint32(LARGEST_WINDOW)]);
    const window = uint32(LARGEST_WINDOW - FIRST_WINDOW);
    const calls = Array.from({ length: CALLS_OF_CONNECTION }, () => this.#call());
    this.#socket.write(
      Buffer.concat([
        Buffer.from(PREFACE),
        rawFrame(FRAME.SETTINGS, 0, 0, settings),
        rawFrame(FRAME.WINDOW_UPDATE, 0, 0, window),
        ...calls,
      ]),
    );
  }

  /** The frames of the next call. From the second one on, its headers are in the table of HPACK. */
  #call(): Buffer {
    const id = this.#next;
    this.#next += 2;
    this.#underWay++;
    const body = this.#bodies[(this.#from + (id >> 1)) % this.#bodies.length] as Buffer;
    const headers = id === 1 ? literals(this.#fields) : indices(this.#fields.length);
    return Buffer.concat([
      rawFrame(FRAME.HEADERS, END_HEADERS, id, headers),
      rawFrame(FRAME.DATA, END_STREAM, id, body),
    ]);
  }

  #take(data: Buffer): void {
    const buffer = this.#left.length === 0 ? data : Buffer.concat([this.#left, data]);
    const answers: Buffer[] = [];
    let at = 0;
    while (buffer.length - at >= 9) {
      const end = at + 9 + buffer.readUIntBE(at, 3);
      if (buffer.length < end) break;
      this.#frame(buffer.subarray(at, end), answers);
      at = end;
    }
    this.#left = buffer.subarray(at);
    if (answers.length > 0) this.#socket.write(Buffer.concat(answers));
    if (this.#isOver && this.#underWay === 0) this.#resolve();
  }

  #frame(frame: Buffer, answers: Buffer[]): void {
    const [type, flags = 0] = [frame[3], frame[4]];
    const isEnd = (flags & END_STREAM) !== 0;
    if (type === FRAME.DATA && frame.length > 9) this.#withMessage++;
    else if (type === FRAME.HEADERS && isEnd) this.#answered(answers);
    else if (type === FRAME.RST_STREAM || type === FRAME.GOAWAY) {
      this.#reject(new Error("the server has ended a call, or the connection"));
    } else if ((type === FRAME.SETTINGS || type === FRAME.PING) && (flags & ACK) === 0) {
      answers.push(rawFrame(type, ACK, 0, type === FRAME.PING ? frame.subarray(9) : undefined));
    }
  }

  #answered(answers: Buffer[]): void {
    this.#underWay--;
    // Those that failed have none.
    if (++this.calls > this.#withMessage)
      this.#reject(new Error("a call was answered by an error"));
    if (!this.#isOver) answers.push(this.#call());
  }
}

function envelope(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0), uint32(message.length), message]);
}

/** Headers in full, to be kept in the table. */
function literals(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => [Buffer.of(value.length), Buffer.from(value)];
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.of(0x40), ...text(name), ...text(value)]),
  );
}

/** The same by their places in the table, where the last one is the first. */
function indices(count: number): Buffer {
  return Buffer.from(
    Array.from({ length: count }, (_, index) => 0x80 | (FIRST_DYNAMIC + count - 1 - index)),
  );
}
