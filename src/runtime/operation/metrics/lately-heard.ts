import type { Socket } from "node:net";

/**
 * The connections of a server that takes only so many. Where they are full, the one closes that
 * has asked for nothing for longest, so that silent ones cannot keep a new one from
 * being answered: whoever means to ask does so at once.
 */
export class LatelyHeard {
  readonly #most: number;
  /** From the one that was heard of longest ago to the one just now. */
  readonly #connections = new Set<Socket>();

  /** @param most how many connections there are at most */
  constructor(most: number) {
    this.#most = most;
  }

  /** A connection was made. */
  opened(socket: Socket): void {
    for (const longest of this.#connections) {
      if (this.#connections.size < this.#most) break;
      this.#connections.delete(longest);
      longest.destroy();
    }
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
  }

  /** A request has come, its headers complete. */
  heard(socket: Socket): void {
    // One that was closed since must not come back.
    if (this.#connections.delete(socket)) this.#connections.add(socket);
  }
}
