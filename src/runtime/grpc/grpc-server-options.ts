import type { BoundMethod } from "../binding/bound-method.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { ConnectionLimits } from "../http2/connection-limits.ts";
import type { Logger } from "../operation/logger.ts";
import type { UnroutedObserver } from "../operation/unrouted-request.ts";
import type { RequestBudget } from "../wire/message-budget.ts";
import type { PlatformLimits } from "./platform/platform-limits.ts";

/** The part `server.grpc` of a service's configuration. */
export type GrpcServerConfig = NonNullable<ServiceConfig["server"]["grpc"]>;

/** How RPCs are served by gRPC. */
export interface GrpcMethodsOptions {
  readonly chain: ServerChain;
  /** The RPCs that it serves. */
  readonly methods: readonly BoundMethod[];
  readonly config: Required<
    Pick<GrpcServerConfig, "max_message_bytes" | "compression" | "reflection">
  >;
  /** The name of the deployed service: the domain of its errors; undefined where these have no `ErrorInfo`. */
  readonly service: string | undefined;
  /** What the health service tells. */
  readonly isReady: () => boolean;
  /** Is told of requests that are calls of no RPC. Never throws. */
  readonly onUnrouted?: UnroutedObserver | undefined;
  /** Is told of what goes wrong here, not of calls. */
  readonly logger?: Logger;
  /** What calls of health and reflection may take. */
  readonly platform?: Partial<PlatformLimits>;
  /** The most elements of a request message. */
  readonly maxElements?: number;
  /** The most bytes of a response message; as many as of a request where absent. */
  readonly maxResponseBytes?: number;
}

/** What a gRPC server is made of. */
export interface GrpcServerOptions extends GrpcMethodsOptions {
  readonly config: GrpcMethodsOptions["config"] & GrpcServerConfig;
  readonly limits?: Partial<ConnectionLimits>;
  /** What the request messages may take in memory; that of the process, which its transports share. */
  readonly budget?: RequestBudget;
}
