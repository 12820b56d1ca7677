import type { ClientOptions } from "../client-options.ts";

/** What a gRPC client may be told. */
export interface GrpcClientOptions extends ClientOptions {
  /** Where the service answers, `host:port`. */
  readonly target: string;
  /** Calls over TLS; absent, in plain text. */
  readonly tls?: GrpcClientTls;
}

/** How the server is known, and how this client shows itself; in PEM. */
export interface GrpcClientTls {
  /** Who signs the server's certificate; absent, the public authorities. */
  readonly ca?: Uint8Array;
  readonly certificate?: Uint8Array;
  readonly key?: Uint8Array;
  /** The name that the server's certificate must have; absent, that of the target. */
  readonly serverName?: string;
}
