import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "../../../support/free-port.ts";

type Answer = (response: ServerResponse) => void;

/** A provider's discovery document and key set, over real HTTP. It can be stopped and started again at the same address. */
export class KeyServer {
  /** The keys that it answers with. */
  keys: readonly object[] = [];
  /** What the discovery document says beside the default. */
  document: Record<string, unknown> = {};
  /** Answers instead of the key set. */
  answer: Answer | undefined;
  /** The paths that were asked for. */
  readonly asked: string[] = [];
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get keyReads(): number {
    return this.asked.filter((path) => path === "/keys").length;
  }

  async start(): Promise<this> {
    if (this.#port === 0) this.#port = await freePort();
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      this.asked.push(path);
      response.setHeader("connection", "close");
      if (path === "/.well-known/openid-configuration") {
        const document = { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.document };
        response.end(JSON.stringify(document));
      } else if (path === "/keys" && this.answer !== undefined) this.answer(response);
      else if (path === "/keys" || path === "/keys?elsewhere")
        response.end(JSON.stringify({ keys: this.keys }));
      else response.writeHead(404).end();
    });
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
}
