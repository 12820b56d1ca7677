import type { Socket } from "node:net";
import type { Peer } from "../call/peer.ts";
import { peerOfSocket } from "../call/peer-of-socket.ts";

/** What must hear of the end of its connection. */
export interface OnConnection {
  /** The connection is gone; nothing can be sent any more. */
  lost(): void;
  /** Whether the request has not come in as a whole yet. */
  readonly isReceiving: boolean;
}

/** One connection, its peer, and what is under way on it: more than one where the client pipelines. */
export interface Connection {
  readonly peer: Peer;
  readonly active: Set<OnConnection>;
  /** Whether a response says that the connection ends: what comes behind it is not served. */
  isClosing: boolean;
}

/** The connections of a server, each known from its first request on. */
export class Connections {
  readonly #known = new WeakMap<Socket, Connection>();
  readonly #silent = new Set<Socket>();
  #active = 0;

  /** How many requests are under way. */
  get active(): number {
    return this.#active;
  }

  /** A connection was made. Node takes one that has sent nothing for a busy one, so they are kept here. */
  opened(socket: Socket): void {
    this.#silent.add(socket);
    socket.once("close", () => this.#silent.delete(socket));
  }

  /** Ends the connections on which nothing was ever asked. */
  closeSilent(): void {
    for (const socket of this.#silent) if (socket.bytesRead === 0) socket.destroy();
  }

  of(socket: Socket): Connection {
    return this.#known.get(socket) ?? this.#begin(socket);
  }

  /** That of a socket which had a request; undefined otherwise. */
  known(socket: Socket): Connection | undefined {
    return this.#known.get(socket);
  }

  enter(connection: Connection, exchange: OnConnection): void {
    connection.active.add(exchange);
    this.#active++;
  }

  leave(connection: Connection, exchange: OnConnection): void {
    if (connection.active.delete(exchange)) this.#active--;
  }

  #begin(socket: Socket): Connection {
    this.#silent.delete(socket);
    const connection: Connection = {
      peer: peerOfSocket(socket),
      active: new Set(),
      isClosing: false,
    };
    this.#known.set(socket, connection);
    // One listener a connection: those of each response would not hear of it where requests are pipelined.
    socket.once("close", () => {
      for (const exchange of [...connection.active]) {
        this.leave(connection, exchange);
        exchange.lost();
      }
    });
    return connection;
  }
}
