/** The protocols that a call may come by: routes of HTTP, gRPC, Connect and gRPC-Web. */
export const TRANSPORTS = ["http", "grpc", "connect", "grpc_web"] as const;

/** The protocol that a call came by. */
export type Transport = (typeof TRANSPORTS)[number];
