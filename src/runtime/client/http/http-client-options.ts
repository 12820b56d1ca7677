import type { ClientOptions } from "../client-options.ts";
import type { ClientTls } from "../client-tls.ts";

/** What an HTTP client may be told. */
export interface HttpClientOptions extends ClientOptions {
  /** Where the service answers, such as `http://hub:18001`; a path in it goes before those of the routes. */
  readonly baseUrl: string;
  /** The most connections at a time; 64 where absent. */
  readonly maxConnections?: number;
  /** For `https`: how the server is known, and how this client shows itself; in PEM. */
  readonly tls?: HttpClientTls;
}

/** How the server is known, and how this client shows itself; in PEM. */
export type HttpClientTls = ClientTls;
