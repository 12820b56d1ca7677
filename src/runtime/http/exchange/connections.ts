import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ServiceError } from "../../error/service-error.ts";
import { tooOldAt } from "../../http2/connection-limits.ts";
import { type Peer, peerOfSocket } from "../../peer/peer.ts";
import {
  type ConnectionMemory,
  memoryOfConnection,
  type RequestBudget,
  requestBudget,
} from "../../wire/message-budget.ts";
import type { ComingMessages } from "../../wire/message-reader.ts";

/** What is notified of the end of its connection. */
export interface OnConnection {
  /**
   * The connection is closed; nothing can be sent any more.
   *
   * @param reason - why its call ends; the default is that the client has cancelled it
   */
  lost(reason?: ServiceError): void;
  readonly requestId: string;
  /** Whether it is a call by now, which the observers of calls count. */
  readonly isCall: boolean;
  /** Whether the request has not arrived completely. */
  readonly isReceiving: boolean;
  /** Whether its response has begun. */
  readonly hasBegun: boolean;
  /** The messages of a request stream. */
  readonly messages: ComingMessages | undefined;
}

/** One connection, its peer, and its exchanges: more than one if the client pipelines. */
export interface Connection extends ConnectionMemory {
  readonly peer: Peer;
  /** Few, mostly one: a set would have to hash each one. */
  readonly active: OnConnection[];
  /** The last request that was answered before it had arrived completely; until the next one. */
  unfinished: IncomingMessage | undefined;
  /** The latest of these. */
  newest: OnConnection | undefined;
  /** Whether requests are independent of each other, as over HTTP/2. */
  readonly isMultiplexed: boolean;
  /**
   * The time from which it is too old for further requests, by `performance.now()`. HTTP/2
   * connections handle this themselves.
   */
  readonly endsAt: number;
  /** Whether a response has announced the end of the connection: later requests are not served. */
  isClosing: boolean;
}

/** The connections of a server; those of another server are known from their first request on. */
export class Connections {
  readonly #known = new WeakMap<Socket, Connection>();
  readonly #budget: RequestBudget;
  readonly #maxAgeMs: number | undefined;
  #active = 0;

  constructor(budget: RequestBudget = requestBudget(), maxAgeMs?: number) {
    this.#budget = budget;
    this.#maxAgeMs = maxAgeMs;
  }

  /** How many requests are under way. */
  get active(): number {
    return this.#active;
  }

  of(socket: Socket): Connection {
    return this.#known.get(socket) ?? this.#begin(socket);
  }

  /** An HTTP/2 connection: the creator of an exchange notifies it when its stream closes. */
  multiplexed({
    peer,
    budget,
    unread,
  }: Pick<Connection, "peer" | "budget" | "unread">): Connection {
    const endsAt = Number.POSITIVE_INFINITY;
    return {
      peer,
      budget,
      unread,
      active: [],
      unfinished: undefined,
      newest: undefined,
      isMultiplexed: true,
      endsAt,
      isClosing: false,
    };
  }

  enter(connection: Connection, exchange: OnConnection): void {
    connection.active.push(exchange);
    connection.newest = exchange;
    connection.unfinished = undefined;
    this.#active++;
  }

  leave(connection: Connection, exchange: OnConnection): void {
    const { active } = connection;
    const place = active.indexOf(exchange);
    if (place < 0) return;
    if (active.length === 1) active.pop();
    else active.splice(place, 1);
    this.#active--;
    if (connection.newest === exchange) connection.newest = undefined;
  }

  #begin(socket: Socket): Connection {
    const connection: Connection = {
      peer: peerOfSocket(socket),
      ...memoryOfConnection(this.#budget),
      active: [],
      unfinished: undefined,
      newest: undefined,
      isMultiplexed: false,
      endsAt: tooOldAt(this.#maxAgeMs),
      isClosing: false,
    };
    this.#known.set(socket, connection);
    // One listener per connection: listeners of each response would not be called for pipelined
    // requests.
    socket.once("close", () => {
      connection.unread.close();
      for (const exchange of [...connection.active]) {
        this.leave(connection, exchange);
        exchange.lost();
      }
    });
    return connection;
  }
}
