import type { ClientOptions } from "../client-options.ts";
import type { ClientTls } from "../client-tls.ts";

/** What a gRPC client may be told. */
export interface GrpcClientOptions extends ClientOptions {
  /** Where the service answers, `host:port`. */
  readonly target: string;
  /** Calls over TLS; absent, in plain text. */
  readonly tls?: GrpcClientTls;
  /**
   * How often a connection with calls under way is asked whether it is alive, in milliseconds.
   * 30,000 where absent, and 330,000 for streams: servers of other makers end a connection that is
   * asked more often than every five minutes while nothing else is sent, unless they are told otherwise.
   * 0 for never.
   */
  readonly keepaliveMs?: number;
}

/** How the server is known, and how this client shows itself; in PEM. */
export interface GrpcClientTls extends ClientTls {
  /** The name that the server's certificate must have; absent, that of the target. */
  readonly serverName?: string;
}
