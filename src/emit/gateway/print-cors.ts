import type { CorsPlan } from "./plan-policies.ts";

/** CORS as spec 8 has it for the gateway, and what clients of Connect and gRPC-Web send and read. */
export function corsSpec(cors: CorsPlan): Record<string, unknown> {
  return {
    allowOrigins: cors.origins,
    allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
    allowHeaders: [
      "Authorization",
      "Content-Type",
      "X-Request-ID",
      "X-Trace-ID",
      "Traceparent",
      "Tracestate",
      ...(cors.connect ? CONNECT_HEADERS : []),
    ],
    exposeHeaders: exposedHeaders(cors),
    maxAge: "3600s",
    allowCredentials: true,
  };
}

/** What of an answer a page of another origin may read. */
export function exposedHeaders({ connect }: CorsPlan): string[] {
  return ["X-Request-ID", "Content-Length", ...(connect ? CONNECT_EXPOSED_HEADERS : [])];
}

const CONNECT_HEADERS = [
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Grpc-Timeout",
  "X-Grpc-Web",
  "X-User-Agent",
];
const CONNECT_EXPOSED_HEADERS = ["Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"];
