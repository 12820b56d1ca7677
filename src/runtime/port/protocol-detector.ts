import type { Socket } from "node:net";
import type { Protocol } from "./port.ts";

/** With these bytes every HTTP/2 connection begins, and no request of HTTP/1.1 (RFC 9113, section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** How often the time of silent connections is looked at, in milliseconds. */
const CHECK_EVERY_MS = 1000;

/** A connection whose first bytes are waited for. */
interface Silent {
  readonly since: number;
  readonly stop: () => void;
}

/** Finds out by the first bytes of a connection what is spoken on it. */
export class ProtocolDetector {
  readonly #beginMs: number;
  readonly #accept: (socket: Socket, protocol: Protocol) => void;
  /** In the order in which they came. */
  readonly #silent = new Map<Socket, Silent>();
  #checks: NodeJS.Timeout | undefined;

  /** @param beginMs after how many milliseconds a connection without them ends */
  constructor(beginMs: number, accept: (socket: Socket, protocol: Protocol) => void) {
    this.#beginMs = beginMs;
    this.#accept = accept;
  }

  add(socket: Socket): void {
    let first: Buffer | undefined;
    const stop = (): void => {
      socket.off("data", onData).off("close", stop).off("end", stop);
      this.#silent.delete(socket);
      if (this.#silent.size === 0) this.#rest();
    };
    const onData = (chunk: Buffer): void => {
      first = first === undefined ? chunk : Buffer.concat([first, chunk]);
      const protocol = protocolOf(first);
      if (protocol === undefined) return;
      stop();
      socket.pause();
      socket.unshift(first);
      this.#accept(socket, protocol);
      // Only then, so that what was read already comes before what is read next.
      process.nextTick(() => socket.resume());
    };
    this.#silent.set(socket, { since: performance.now(), stop });
    this.#checks ??= setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
    socket.on("data", onData).on("close", stop).on("end", stop);
  }

  /** Ends all that have sent nothing, or not enough. */
  close(): void {
    for (const [socket, { stop }] of this.#silent) {
      stop();
      socket.destroy();
    }
  }

  #check(): void {
    const latest = performance.now() - this.#beginMs;
    for (const [socket, { since, stop }] of this.#silent) {
      if (since > latest) return;
      stop();
      socket.destroy();
    }
  }

  #rest(): void {
    clearInterval(this.#checks);
    this.#checks = undefined;
  }
}

/** Undefined while both may still come. */
function protocolOf(bytes: Buffer): Protocol | undefined {
  const length = Math.min(bytes.length, PREFACE.length);
  if (bytes.compare(PREFACE, 0, length, 0, length) !== 0) return "http/1.1";
  return length === PREFACE.length ? "h2" : undefined;
}
