import type { ServerOptions } from "node:http";
import { Server } from "node:https";
import { Handshakes } from "../tls/handshakes.ts";
import type { ServerTls } from "../tls/server-tls.ts";

/**
 * Node's HTTPS server, with what it lacks. Connections whose handshake is under way are closed
 * as idle ones are. Those whose handshake has failed are ended without a word. And renewed
 * certificates are served to whoever connects from then on.
 */
export class TlsHttpServer extends Server {
  readonly #handshakes = new Handshakes(this);

  constructor(options: ServerOptions, tls: Pick<ServerTls, "context" | "handshake" | "follow">) {
    super({ ...options, ...tls.context, ...tls.handshake });
    // Node would have the failure answered in HTTP, on a connection that cannot be written to
    // and then never ends.
    this.removeAllListeners("tlsClientError");
    this.on("tlsClientError", (_error, socket) => socket.destroy());
    this.once("listening", () => {
      const end = tls.follow((context) => this.setSecureContext(context));
      this.once("close", end);
    });
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    this.#handshakes.close();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#handshakes.close();
  }
}
