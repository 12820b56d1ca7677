import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "../../../support/free-port.ts";

/** What may be amiss with a provider. */
export const FAULTS = ["stopped", "silent", "error 500", "junk", "huge"] as const;
export type Fault = (typeof FAULTS)[number];

const MIB = 1024 * 1024;

/** A provider's discovery document and key set, which may be faulty. */
export class FaultyKeyServer {
  /** How often anything was asked for. */
  asked = 0;
  readonly #keys: readonly object[];
  #server: Server | undefined;
  #port = 0;
  #fault: Fault | undefined;

  constructor(keys: readonly object[]) {
    this.#keys = keys;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  set fault(fault: Fault | undefined) {
    const wasStopped = this.#fault === "stopped";
    this.#fault = fault;
    if (fault === "stopped") void this.stop();
    else if (wasStopped) void this.start();
    else this.#server?.closeAllConnections();
  }

  async start(): Promise<this> {
    if (this.#port === 0) this.#port = await freePort();
    const server = createServer(this.#answer);
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

  readonly #answer: RequestListener = (request, response) => {
    this.asked++;
    response.on("error", () => undefined);
    const isDiscovery = request.url === "/.well-known/openid-configuration";
    const fault = this.#fault;
    if (fault === "silent") return;
    if (fault === "error 500") return void response.writeHead(500).end("{}");
    if (fault === "junk") return void response.end("<html>");
    if (fault === "huge" && !isDiscovery) {
      // Without a length, and without an end.
      const more = (): void => {
        while (!response.destroyed && response.write(" ".repeat(MIB))) {}
      };
      response.on("drain", more);
      return more();
    }
    const body = isDiscovery
      ? { issuer: this.url, jwks_uri: `${this.url}/keys` }
      : { keys: this.#keys };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(body));
  };
}
