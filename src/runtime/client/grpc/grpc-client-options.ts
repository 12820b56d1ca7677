import type { ClientOptions } from "../client-options.ts";
import type { ClientTls } from "../client-tls.ts";

/** What a gRPC client may be told. */
export interface GrpcClientOptions extends ClientOptions {
  /** Where the service answers, `host:port`. */
  readonly target: string;
  /** Calls over TLS; absent, in plain text. */
  readonly tls?: GrpcClientTls;
}

/** How the server is known, and how this client shows itself; in PEM. */
export interface GrpcClientTls extends ClientTls {
  /** The name that the server's certificate must have; absent, that of the target. */
  readonly serverName?: string;
}
