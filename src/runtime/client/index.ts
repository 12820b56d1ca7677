export type { ClientCall, ClientCallOptions, ClientInterceptor } from "./client-call.ts";
export type {
  CircuitBreakerOptions,
  ClientOptions,
  ClientRateLimit,
  RetryOptions,
} from "./client-options.ts";
export { createGrpcClient } from "./grpc/grpc-client.ts";
export type { GrpcClientOptions, GrpcClientTls } from "./grpc/grpc-client-options.ts";
export { createHttpClient } from "./http/http-client.ts";
export type { HttpClientOptions, HttpClientTls } from "./http/http-client-options.ts";
export type { ClientMethod, ServiceClient } from "./typed-client.ts";
