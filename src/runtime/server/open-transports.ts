import type { ServerChain } from "../chain/server-chain.ts";
import { isForDevelopment } from "../configuration/environment.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import type { HttpServerOptions } from "../http/http-server.ts";
import type { AccessLog } from "../operation/access-log/access-log.ts";
import type { Logger } from "../operation/logger.ts";
import type { Metrics } from "../operation/metrics/metrics.ts";
import type { Readiness } from "../operation/readiness.ts";
import type { UnroutedRequest } from "../operation/unrouted-request.ts";
import { type RequestBudget, requestBudget } from "../wire/message-budget.ts";
import type { ServerPlan } from "./plan-server.ts";
import type { TransportServer } from "./transport-server.ts";

/** What transports are made of. */
export interface TransportParts {
  readonly config: ServiceConfig;
  readonly plan: ServerPlan;
  /** The chain for a transport whose calls may take so long, in nanoseconds. */
  readonly chainFor: (timeoutNs: number) => ServerChain;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly accessLog: AccessLog;
  readonly logger: Logger;
}

/** Makes the servers that the configuration asks for; what is not asked for is not loaded. */
export async function openTransports(parts: TransportParts): Promise<readonly TransportServer[]> {
  const { http, grpc, metrics } = parts.config.server;
  const budget = requestBudget();
  return Promise.all([
    ...(http === undefined ? [] : [openHttp(parts, http)]),
    ...(grpc === undefined ? [] : [openGrpc(parts, grpc, budget)]),
    ...(metrics === undefined ? [] : [openMetrics(parts, metrics)]),
  ]);
}

async function openHttp(
  parts: TransportParts,
  config: NonNullable<ServiceConfig["server"]["http"]>,
): Promise<TransportServer> {
  const { plan, chainFor, readiness, logger } = parts;
  const { createHttpServer } = await import("../http/http-server.ts");
  const options: HttpServerOptions = {
    chain: chainFor(config.timeout_ns),
    methods: plan.methods,
    rawMethods: plan.rawMethods,
    config,
    maxElements: parts.config.server.max_message_elements,
    probes: readiness.probes(),
    logger,
    onUnrouted: (request) => tellUnrouted(parts, request),
    onFault: (error, call) => {
      logger.error({ error, rpc: call.rpc, request_id: call.requestId }, "a response was not sent");
    },
  };
  return createHttpServer(options);
}

async function openGrpc(
  parts: TransportParts,
  config: NonNullable<ServiceConfig["server"]["grpc"]>,
  budget: RequestBudget,
): Promise<TransportServer> {
  const { plan, chainFor, readiness, logger } = parts;
  const maxResponseBytes = parts.config.server.max_response_bytes;
  const { createGrpcServer } = await import("../grpc/grpc-server.ts");
  return createGrpcServer({
    chain: chainFor(config.timeout_ns),
    methods: plan.methods,
    // Who may read all that there is to call should be decided, not left to a default.
    config: { ...config, reflection: config.reflection ?? isForDevelopment(parts.config) },
    maxElements: parts.config.server.max_message_elements,
    platform: { streamMs: parts.config.server.stream_timeout_ns / 1e6 },
    service: parts.config.server.error_info ? parts.config.service : undefined,
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    isReady: () => readiness.state === "ready",
    onUnrouted: (request) => tellUnrouted(parts, request),
    logger,
    budget,
  });
}

async function openMetrics(
  { metrics, logger }: TransportParts,
  config: NonNullable<ServiceConfig["server"]["metrics"]>,
): Promise<TransportServer> {
  const { MetricsServer } = await import("../operation/metrics/metrics-server.ts");
  return new MetricsServer(metrics, config, logger);
}

function tellUnrouted({ metrics, accessLog }: TransportParts, request: UnroutedRequest): void {
  metrics.unrouted(request.transport, request.code ?? "OK");
  accessLog.request(request);
}
