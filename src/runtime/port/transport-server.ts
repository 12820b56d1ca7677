/** One of the servers of a process: HTTP, gRPC or metrics. */
export interface TransportServer {
  /** For messages, such as `http`. */
  readonly name: string;
  /**
   * Begins to listen; undefined if it has no port of its own. Rejects with a clear error if the
   * address is in use.
   */
  listen(): Promise<ListeningAddress | undefined>;
  /** Accepts no new calls and connections, and resolves when those under way are done. */
  drain(): Promise<void>;
  /** Ends at once, also calls under way. */
  close(): Promise<void>;
}

/** A server that always has a port of its own. */
export interface ListeningServer extends TransportServer {
  listen(): Promise<ListeningAddress>;
}

/** Where a server listens; with port 0 in the configuration, the one that it got. */
export interface ListeningAddress {
  /** The host or IP address, IPv6 without brackets. */
  readonly host: string;
  /** The TCP port. */
  readonly port: number;
}
