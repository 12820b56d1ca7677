/**
 * The lists of CORS (docs/requirements.md, TRANS-5 and EDGE-25). The CORS of the edge replaces that of
 * a service, so both take them from here.
 */

/** The methods that pages of other origins may use. */
export const CORS_METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The request headers that pages of other origins may send. */
export const CORS_REQUEST_HEADERS: readonly string[] = [
  "Authorization",
  "Content-Type",
  "X-Request-ID",
  "X-Trace-ID",
  "Idempotency-Key",
];

/** The request headers that clients of Connect and gRPC-Web in browsers send. */
export const RPC_REQUEST_HEADERS: readonly string[] = [
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Connect-Content-Encoding",
  "Connect-Accept-Encoding",
  "Content-Encoding",
  "Grpc-Timeout",
  "Grpc-Encoding",
  "Grpc-Accept-Encoding",
  "X-Grpc-Web",
  "X-User-Agent",
];

/** The response headers that pages of other origins may read. */
export const EXPOSED_HEADERS: readonly string[] = [
  "X-Request-ID",
  "Idempotent-Replayed",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "RateLimit-Policy",
];

/** The response headers that clients of Connect and gRPC-Web in browsers read. */
export const RPC_EXPOSED_HEADERS: readonly string[] = [
  "Content-Encoding",
  "Connect-Content-Encoding",
  "Connect-Accept-Encoding",
  "Grpc-Status",
  "Grpc-Message",
  "Grpc-Status-Details-Bin",
  "Grpc-Encoding",
  "Grpc-Accept-Encoding",
];
