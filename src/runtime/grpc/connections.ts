import type { Http2Server, ServerHttp2Session } from "node:http2";

/** The connections of a server: finds those that are dead, and ends all in the end. */
export class Connections {
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Those that were asked and have not answered. */
  readonly #silent = new Set<ServerHttp2Session>();
  readonly #timer: NodeJS.Timeout;
  #draining = false;
  #whenEmpty: (() => void) | undefined;

  constructor(server: Http2Server, keepaliveMs: number) {
    server.on("session", (session) => this.#add(session));
    // One timer for all: connections may be many, and are idle most of the time.
    this.#timer = setInterval(() => this.#ping(), keepaliveMs).unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Sends GOAWAY to all, and resolves when the last call has ended. */
  drain(): Promise<void> {
    this.#draining = true;
    for (const session of this.#sessions) session.close();
    if (this.#sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  /** Ends all, with their calls. */
  destroy(): void {
    clearInterval(this.#timer);
    for (const session of this.#sessions) session.destroy();
  }

  #add(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    // An error of one connection concerns that one only; it closes.
    session.on("error", () => undefined);
    session.once("close", () => {
      this.#sessions.delete(session);
      this.#silent.delete(session);
      if (this.#sessions.size === 0) this.#whenEmpty?.();
    });
    if (this.#draining) session.close();
  }

  #ping(): void {
    for (const session of this.#sessions) {
      if (this.#silent.has(session)) {
        session.destroy();
        continue;
      }
      if (session.destroyed || session.closed) continue;
      this.#silent.add(session);
      // The error of a ping is that of a connection that closes.
      session.ping(() => this.#silent.delete(session));
    }
  }
}
