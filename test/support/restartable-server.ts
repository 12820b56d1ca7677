import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "./free-port.ts";

/** An HTTP server on loopback that can be stopped and started again at the same address. */
export abstract class RestartableServer {
  #server: Server | undefined;
  #port = 0;

  protected abstract respond(request: IncomingMessage, response: ServerResponse): void;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    if (this.#port === 0) this.#port = await freePort();
    const server = createServer((request, response) => this.respond(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  protected closeConnections(): void {
    this.#server?.closeAllConnections();
  }
}
