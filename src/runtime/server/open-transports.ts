import type { RequestListener } from "node:http";
import type { Logger } from "../../common/logger.ts";
import type { UnroutedRequest } from "../chain/call-stages.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { isForDevelopment, type ServiceConfig } from "../configuration/service-config.ts";
import { milliseconds } from "../configuration/service-config-values.ts";
import type { ServedRpcsOptions } from "../grpc/served-rpcs.ts";
import type { HttpServerOptions, HttpTransport } from "../http/server/http-server.ts";
import type { ConnectionLimits } from "../http2/connection-limits.ts";
import type { AccessLog } from "../observers/access-log/access-log.ts";
import type { Metrics } from "../observers/metrics/metrics.ts";
import type { TransportServer } from "../port/transport-server.ts";
import { type RequestBudget, requestBudget } from "../wire/message-budget.ts";
import { largestMessageBytes } from "../wire/message-memory.ts";
import type { ServerPlan } from "./plan-server.ts";
import type { ServerReadiness } from "./readiness.ts";

/** The options of transports. */
export interface TransportParts {
  readonly config: ServiceConfig;
  readonly listenHttp: boolean;
  readonly plan: ServerPlan;
  /** The chain for a transport whose calls may take so long, in nanoseconds. */
  readonly chainFor: (timeoutNs: number) => ServerChain;
  readonly readiness: ServerReadiness;
  readonly metrics: Metrics;
  readonly accessLog: AccessLog;
  readonly logger: Logger;
}

/** The servers of a process. */
export interface Transports {
  readonly transports: readonly TransportServer[];
  /** That of HTTP; undefined without it. */
  readonly requestListener: RequestListener | undefined;
}

/** Creates the configured servers; others are not loaded. */
export async function openTransports(parts: TransportParts): Promise<Transports> {
  const config = parts.config.server;
  const { events } = parts.metrics;
  const budget = requestBudget(largestMessage(config, parts.plan), () => events.responseCutOff());
  const [http, grpc, metrics] = await Promise.all([
    config.http && openHttp(parts, config.http, budget),
    config.grpc && openGrpc(parts, config.grpc, budget),
    config.metrics && openMetrics(parts, config.metrics),
  ]);
  const transports = [http, grpc, metrics].filter((transport) => transport !== undefined);
  return { transports, requestListener: http?.requestListener };
}

/** The memory of the largest allowed request message, in bytes. */
function largestMessage(
  { http, grpc, max_message_elements }: ServiceConfig["server"],
  { methods }: ServerPlan,
): number {
  const bytes = Math.max(http?.max_body_bytes ?? 0, grpc?.max_message_bytes ?? 0);
  const types = methods.flatMap(({ descriptor }) => descriptor?.input ?? []);
  return largestMessageBytes(types, bytes, max_message_elements);
}

async function openHttp(
  parts: TransportParts,
  config: NonNullable<ServiceConfig["server"]["http"]>,
  budget: RequestBudget,
): Promise<HttpTransport> {
  const { plan, chainFor, readiness, logger } = parts;
  const [{ createHttpServer }, { ServedRpcs }, { WebProtocols }] = await Promise.all([
    import("../http/server/http-server.ts"),
    import("../grpc/served-rpcs.ts"),
    import("../rpc-over-http/web-protocols.ts"),
  ]);
  const grpc = grpcOptions(parts, config.timeout_ns, { max_message_bytes: config.max_body_bytes });
  const rpcs = new ServedRpcs(grpc);
  const options: HttpServerOptions = {
    chain: chainFor(config.timeout_ns),
    methods: plan.methods,
    rawMethods: plan.rawMethods,
    config,
    listens: parts.listenHttp,
    limits: {
      keepAliveTimeoutMs: milliseconds(config.max_connection_idle_ns),
      ...ageLimits(config),
    },
    maxElements: parts.config.server.max_message_elements,
    probes: readiness.probes(),
    grpc: rpcs,
    protocols: new WebProtocols({
      methods: plan.methods,
      find: (path) => rpcs.find(path),
      domain: grpc.service,
      compression: grpc.config.compression,
      limits: { maxBytes: config.max_body_bytes },
    }),
    budget,
    logger,
    onUnrouted: (request) => reportUnrouted(parts, request),
    onFault: (error, call, what = "a response was not sent") => {
      logger.error({ error, rpc: call.rpc, request_id: call.requestId }, what);
    },
  };
  return createHttpServer(options);
}

async function openGrpc(
  parts: TransportParts,
  config: NonNullable<ServiceConfig["server"]["grpc"]>,
  budget: RequestBudget,
): Promise<TransportServer> {
  const { createGrpcServer } = await import("../grpc/grpc-server.ts");
  const methods = grpcOptions(parts, config.timeout_ns, config);
  const { max_connection_idle_ns: idle } = config;
  return createGrpcServer({
    ...methods,
    config: { ...config, ...methods.config },
    limits: { idleMs: idle && milliseconds(idle), ...ageLimits(config) },
    budget,
  });
}

/** How long connections last, for both servers. */
function ageLimits({
  max_connection_age_ns: age,
  max_connection_age_grace_ns: grace,
}: {
  readonly max_connection_age_ns?: number | undefined;
  readonly max_connection_age_grace_ns?: number | undefined;
}): Pick<ConnectionLimits, "maxAgeMs" | "maxAgeGraceMs"> {
  return {
    maxAgeMs: age && milliseconds(age),
    maxAgeGraceMs: grace && milliseconds(grace),
  };
}

/** How RPCs are served by gRPC, on any port; `server.grpc` configures more of it than `server.http`. */
function grpcOptions(
  parts: TransportParts,
  timeoutNs: number,
  { max_message_bytes }: { readonly max_message_bytes: number },
): ServedRpcsOptions {
  const { config, plan, chainFor, readiness, logger } = parts;
  const { grpc, stream_timeout_ns, max_response_bytes: maxResponseBytes } = config.server;
  return {
    chain: chainFor(timeoutNs),
    methods: plan.methods,
    config: {
      max_message_bytes,
      compression: grpc?.compression ?? true,
      // Who may list all RPCs should be an explicit decision, not a default.
      reflection: grpc?.reflection ?? isForDevelopment(config),
    },
    builtIn: { streamMs: stream_timeout_ns / 1e6 },
    maxElements: config.server.max_message_elements,
    service: config.server.error_info ? config.service : undefined,
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    isReady: () => readiness.state === "ready",
    onUnrouted: (request) => reportUnrouted(parts, request),
    logger,
  };
}

async function openMetrics(
  { metrics, logger }: TransportParts,
  config: NonNullable<ServiceConfig["server"]["metrics"]>,
): Promise<TransportServer> {
  const { MetricsServer } = await import("../observers/metrics/metrics-server.ts");
  return new MetricsServer(metrics, config, logger);
}

function reportUnrouted({ metrics, accessLog }: TransportParts, request: UnroutedRequest): void {
  metrics.unrouted(request.transport, request.code ?? "OK");
  accessLog.request(request);
}
