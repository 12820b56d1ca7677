import { EventEmitter } from "node:events";
import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { type Peer, peerOfSocket } from "../peer/peer.ts";
import type { ConnectionMemory, MessageBudget } from "../wire/message-budget.ts";
import type { UnreadResponses } from "../wire/unread-responses.ts";
import {
  type ConnectionLimits,
  PingPolicy,
  sessionOptionsOf,
  tooOldAt,
} from "./connection-limits.ts";

/** A stream that a client has begun. */
export interface ArrivedStream {
  readonly stream: ServerHttp2Stream;
  /** Alternating names and values, as received. */
  readonly headers: readonly string[];
  /** The same in Node's form: duplicates are joined, or dropped. */
  readonly fields: IncomingHttpHeaders;
  readonly flags: number;
  readonly connection: Http2Connection;
}

type StreamListener = (
  stream: ServerHttp2Stream,
  fields: IncomingHttpHeaders,
  flags: number,
  headers: readonly string[],
) => void;

/** Without what `Readable` does after it, which has no effect on a stream that is closed. */
const removeListeners = EventEmitter.prototype.removeAllListeners;
/**
 * The highest stream number: a GOAWAY with it announces the end, and still accepts streams on their
 * way.
 */
const LAST_STREAM = 2 ** 31 - 1;
/** How long a client may take to acknowledge the end, or to disconnect, in milliseconds. */
const CLOSING_MS = 1000;
/**
 * After how many calls of it that are too many a connection may have fewer at once; counted between
 * two looks at it. Half of what it may have: some clients send that much at once and mean no harm.
 */
const TOO_MANY = 512;
/** So many. */
const NARROW_STREAMS = 128;
/** The reason on which gRPC clients ping less often. */
const TOO_MANY_PINGS = Buffer.from("too_many_pings");

/** One HTTP/2 connection, from the client's first byte to its end. */
export class Http2Connection {
  readonly peer: Peer;
  /** The memory of the messages of its calls. */
  readonly budget: MessageBudget;
  /** The responses that its client has not read. */
  readonly unread: UnreadResponses;
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  #streams = 0;
  /** When it was last without a stream; undefined while it has one. */
  #idleSince: number | undefined = performance.now();
  #begun = false;
  readonly #openedAt = performance.now();
  /** When the unanswered ping was sent. */
  #pingedAt: number | undefined;
  /** When it was last known to be alive. */
  #aliveAt = performance.now();
  readonly #pings: PingPolicy;
  readonly #endsAt: number;
  #endingSince: number | undefined;
  /** Until when the client may do so. */
  #closeTimer: NodeJS.Timeout | undefined;
  /** How many of its calls were too many since the last look. */
  #tooMany = 0;
  /** Whether it may have fewer calls at once for that. */
  #isNarrow = false;

  /**
   * @param socket whose first byte is not read yet
   * @param onClose is notified of its end, once
   */
  constructor(
    socket: Socket,
    limits: ConnectionLimits,
    memory: ConnectionMemory,
    onStream: (arrived: ArrivedStream) => void,
    onClose: (connection: Http2Connection) => void,
  ) {
    this.peer = peerOfSocket(socket);
    this.budget = memory.budget;
    this.unread = memory.unread;
    this.#socket = socket;
    this.#limits = limits;
    this.#pings = new PingPolicy(limits);
    this.#endsAt = tooOldAt(limits.maxAgeMs);
    const session = performServerHandshake(socket, sessionOptionsOf(limits));
    this.#session = session;
    session.once("remoteSettings", () => {
      this.#begun = true;
    });
    // An error of one connection only affects that one; it closes.
    session.on("error", ignore);
    session.once("close", () => {
      clearTimeout(this.#closeTimer);
      onClose(this);
    });
    session.on("ping", () => this.#pinged());
    // The types of Node leave out the raw header list, which its documentation has.
    const listener: StreamListener = (stream, fields, flags, headers) => {
      this.#entered(stream);
      onStream({ stream, headers, fields, flags, connection: this });
    };
    session.on("stream", listener as (stream: ServerHttp2Stream) => void);
  }

  /**
   * A call of it was one too many. After some of them it may have fewer at once for a while: those
   * beyond Node refuses by itself, which takes next to nothing, and clients may send them again.
   */
  tooMany(): void {
    if (++this.#tooMany < TOO_MANY || this.#isNarrow || this.#session.closed) return;
    if (this.#limits.maxConcurrentStreams <= NARROW_STREAMS) return;
    this.#isNarrow = true;
    this.#session.settings({ maxConcurrentStreams: NARROW_STREAMS });
  }

  /**
   * Ends it once its calls are over, and notifies the client first, so that no call on its way is
   * lost. If no call is under way, this is the only notification: after it, Node no longer reads
   * from the connection. It has the number of the last call, so that clients send later ones
   * elsewhere.
   */
  end(): void {
    if (this.#endingSince !== undefined || this.#session.destroyed) return;
    this.#endingSince = performance.now();
    // A connection that has not begun cannot have a call.
    if (!this.#begun) return this.destroy();
    if (this.#session.closed) return;
    if (this.#streams === 0) return this.#hangUp();
    const close = (): void => {
      clearTimeout(this.#closeTimer);
      if (!this.#session.closed) this.#session.close();
    };
    this.#closeTimer = setTimeout(close, CLOSING_MS);
    this.#session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
    // Its answer shows that the client knows: calls that it began before have arrived.
    this.#session.ping(close);
  }

  /** Ends it at once, with its calls. */
  destroy(): void {
    this.#session.destroy();
    this.#socket.destroy();
  }

  /** Checks whether it is still alive, and not too old; called periodically. */
  check(now: number): void {
    const { beginMs, keepaliveMs, idleMs, maxAgeGraceMs } = this.#limits;
    if (!this.#begun) {
      if (now - this.#openedAt >= beginMs) this.destroy();
      return;
    }
    this.#widen();
    if (this.#pingedAt !== undefined) {
      if (now - this.#pingedAt >= keepaliveMs) return this.destroy();
    } else if (now - this.#aliveAt >= keepaliveMs) this.#ping(now);
    const isIdle = this.#idleSince !== undefined && idleMs !== undefined;
    if (now >= this.#endsAt || (isIdle && now - (this.#idleSince as number) >= idleMs)) this.end();
    if (this.#endingSince === undefined || maxAgeGraceMs === undefined) return;
    if (now - this.#endingSince >= maxAgeGraceMs) this.destroy();
  }

  /** No call is under way. */
  #hangUp(): void {
    clearTimeout(this.#closeTimer);
    this.#closeTimer = setTimeout(() => this.destroy(), CLOSING_MS);
    if (!this.#session.closed) this.#session.close();
  }

  /** It may have as many calls as before, where few were too many since the last look. */
  #widen(): void {
    const isCalm = this.#tooMany < TOO_MANY;
    this.#tooMany = 0;
    if (!this.#isNarrow || !isCalm) return;
    if (this.#session.closed || this.#session.pendingSettingsAck) return;
    this.#isNarrow = false;
    this.#session.settings({ maxConcurrentStreams: this.#limits.maxConcurrentStreams });
  }

  #ping(now: number): void {
    if (this.#session.destroyed) return;
    this.#pingedAt = now;
    this.#session.ping(() => {
      this.#pingedAt = undefined;
      this.#aliveAt = performance.now();
    });
  }

  #pinged(): void {
    const session = this.#session;
    if (!this.#pings.isTooOften(performance.now(), this.#socket.bytesWritten)) return;
    const { NGHTTP2_ENHANCE_YOUR_CALM: calm } = constants;
    session.goaway(calm, 0, TOO_MANY_PINGS);
    // It ends its socket once the GOAWAY is sent.
    session.destroy(new Error("the client pings too often"), calm);
  }

  #entered(stream: ServerHttp2Stream): void {
    this.#streams++;
    this.#idleSince = undefined;
    // An error of one stream only affects that one; it closes.
    stream.on("error", ignore);
    stream.on("close", () => {
      forget(stream);
      if (--this.#streams > 0) return;
      this.#idleSince = performance.now();
      if (this.#endingSince !== undefined && !this.#session.destroyed) this.#hangUp();
    });
  }
}

/**
 * Node holds a stream by a weak handle, and V8 frees what such a handle leads to only where it looks
 * at all of its memory. Until then, a closed stream would retain its whole call through its listeners.
 */
function forget(stream: ServerHttp2Stream): void {
  // Node's own listener for removals first: while there is one, each of the others is removed by itself.
  removeListeners.call(stream, "removeListener");
  removeListeners.call(stream);
  // One that nobody listens for would end the process.
  stream.on("error", ignore);
}

function ignore(): void {}
