/** One of the servers of a process: HTTP, gRPC or metrics. */
export interface TransportServer {
  /** For messages, such as `http`. */
  readonly name: string;
  /** Begins to listen; undefined where it has no port of its own. Rejects with a clear error where the address is taken. */
  listen(): Promise<ListeningAddress | undefined>;
  /** Takes no new calls and connections, and resolves when those under way are done. */
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
  readonly host: string;
  readonly port: number;
}
