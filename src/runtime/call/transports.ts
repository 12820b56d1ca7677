/** The protocols of calls: routes of HTTP, gRPC, Connect and gRPC-Web. */
export const TRANSPORTS = ["http", "grpc", "connect", "grpc_web"] as const;

/** The protocol of a call. */
export type Transport = (typeof TRANSPORTS)[number];
