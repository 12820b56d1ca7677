import type { Socket } from "node:net";
import type { Server } from "node:tls";

/**
 * The connections of a server whose handshake is under way. Node does not tell of them, and
 * waits for them while it closes.
 */
export class Handshakes {
  /** By the other end's address, since a secured connection does not tell which one it was before. */
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      const end = otherEnd(socket);
      this.#sockets.set(end, socket);
      socket.once("close", () => {
        if (this.#sockets.get(end) === socket) this.#sockets.delete(end);
      });
    });
    server.on("secureConnection", (socket) => this.#sockets.delete(otherEnd(socket)));
  }

  /** Ends them. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function otherEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
