/** Where the servers of a service listen that its configuration does not name: host:port. */
export interface ListenAddresses {
  /** The HTTP server; absent, none. */
  readonly http?: string;
  /** The gRPC server; absent, none. */
  readonly grpc?: string;
  /** The server of metrics; absent, none. */
  readonly metrics?: string;
}

/** The servers of a service, each of which may be null: it is not opened. */
export const SERVERS = ["http", "grpc", "metrics"] as const;

/** A parsed configuration with these addresses where it has none; a server that is null is not opened. */
export function withAddresses(configuration: unknown, addresses: ListenAddresses): unknown {
  if (!isMapping(configuration)) return configuration;
  const isOptional = Object.keys(addresses).length > 0;
  const given = configuration["server"] ?? (isOptional ? {} : undefined);
  if (!isMapping(given)) return configuration;
  const server: Record<string, unknown> = { ...given };
  for (const name of SERVERS) {
    const own = server[name];
    const address = addresses[name];
    if (own === null) delete server[name];
    else if (address === undefined) continue;
    else if (own === undefined) server[name] = { address };
    else if (isMapping(own)) server[name] = { address, ...own };
  }
  return { ...configuration, server };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
