import type { IncomingMessage, ServerResponse } from "node:http";
import { RestartableServer } from "../../../support/restartable-server.ts";

/** The faults of a provider. */
export const FAULTS = ["stopped", "silent", "error 500", "junk", "huge"] as const;
export type Fault = (typeof FAULTS)[number];

const MIB = 1024 * 1024;

/** A provider's discovery document and key set, which may be faulty. */
export class FaultyKeyServer extends RestartableServer {
  /** The number of requests. */
  asked = 0;
  readonly #keys: readonly object[];
  #fault: Fault | undefined;

  constructor(keys: readonly object[]) {
    super();
    this.#keys = keys;
  }

  set fault(fault: Fault | undefined) {
    const wasStopped = this.#fault === "stopped";
    this.#fault = fault;
    if (fault === "stopped") void this.stop();
    else if (wasStopped) void this.start();
    else this.closeConnections();
  }

  protected override respond(request: IncomingMessage, response: ServerResponse): void {
    this.asked++;
    response.on("error", () => undefined);
    const isDiscovery = request.url === "/.well-known/openid-configuration";
    const fault = this.#fault;
    if (fault === "silent") return;
    if (fault === "error 500") return void response.writeHead(500).end("{}");
    if (fault === "junk") return void response.end("<html>");
    if (fault === "huge" && !isDiscovery) {
      // Without a length and an end.
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
  }
}
