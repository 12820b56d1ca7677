export type {
  CircuitBreakerOptions,
  ClientCall,
  ClientCallOptions,
  ClientInterceptor,
  ClientOptions,
  ClientRateLimit,
  RetryOptions,
} from "./call/client-call.ts";
export type { ClientMethod, ServiceClient } from "./call/typed-client.ts";
export type { GrpcClientOptions, GrpcClientTls } from "./grpc/grpc-channels.ts";
export { createGrpcClient } from "./grpc/grpc-client.ts";
export { createHttpClient } from "./http/http-client.ts";
export type { HttpClientOptions, HttpClientTls } from "./http/http-transport.ts";
