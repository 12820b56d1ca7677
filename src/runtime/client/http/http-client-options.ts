import type { ClientOptions } from "../client-options.ts";

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
export interface HttpClientTls {
  /** Who signs the server's certificate; absent, the public authorities. */
  readonly ca?: Uint8Array;
  readonly certificate?: Uint8Array;
  readonly key?: Uint8Array;
}
