import { collectDefaultMetrics, Registry } from "prom-client";
import type { Logger } from "../../../common/logger.ts";
import type { Transport } from "../../call/transports.ts";
import type { CallObserver } from "../../chain/call-stages.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { CallMetrics } from "./call-metrics.ts";
import { Counter, registerMetric } from "./counter.ts";
import { eventMetrics } from "./event-metrics.ts";
import { addServiceMetric, type ServiceMetric } from "./service-metric.ts";

/** What a pool of connections is doing. */
export interface PoolState {
  readonly used: number;
  readonly idle: number;
  /** How many wait for a connection. */
  readonly waiting: number;
}

/** What is known of the revocations of tokens. */
export interface RevocationState {
  /** Whether all of them are known now. */
  readonly isCurrent: boolean;
  readonly size: number;
}

/** The metrics of a process. */
export interface Metrics {
  /** For the parts of the runtime. */
  readonly events: RuntimeEvents;
  /** For the chain. */
  readonly observer: CallObserver;
  /** Counts a request that was answered before it was a call; its path is not a label. */
  unrouted(transport: Transport, code: string): void;
  /** Adds the state of a database's connections. */
  databasePool(name: string, state: () => PoolState): void;
  /** Records how far the clock is ahead of the certain time of audit retention, in milliseconds. */
  auditClockAhead(ms: number): void;
  /** Adds the state of the revocations of tokens that the service follows. */
  revocations(state: () => RevocationState): void;
  /** Adds whether the process is ready, as `/readyz` answers it. */
  readiness(isReady: () => Promise<boolean>): void;
  /** Adds a metric of the service. */
  service(metric: ServiceMetric, logger: Pick<Logger, "warn">): void;
  /** The text that Prometheus reads, and its media type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Makes the metrics of a server, with those of Node (memory, event loop) unless `process` is false. */
export function createMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const registry = new Registry();
  const others = (options.process ?? true) ? [processRegistry()] : [];
  const unrouted = new Counter(
    registry,
    "rpc_server_unrouted_requests_total",
    "Requests that were answered without a call.",
    ["transport", "code"],
  );
  const pools = new Map<string, () => PoolState>();
  registerMetric(
    registry,
    "gauge",
    "db_client_connections",
    "Connections of a pool; waiting requests have none yet.",
    function* () {
      for (const [pool, state] of pools) {
        for (const [kind, value] of Object.entries(state())) {
          yield { labels: { pool, state: kind }, value };
        }
      }
    },
  );
  let isReady: (() => Promise<boolean>) | undefined;
  let ready: boolean | undefined;
  registerMetric(
    registry,
    "gauge",
    "svc_access_ready",
    "Whether /readyz answers ready: 1, or 0 while a dependency is down, and while the process starts or ends.",
    function* () {
      if (ready !== undefined) yield { labels: {}, value: Number(ready) };
    },
  );
  let clockAhead: number | undefined;
  registerMetric(
    registry,
    "gauge",
    "svc_access_audit_clock_ahead_seconds",
    "How far the clock is ahead of the service's own measurement of time: audit events are kept longer by that time.",
    function* () {
      if (clockAhead !== undefined) yield { labels: {}, value: clockAhead / 1000 };
    },
  );
  let revocations: (() => RevocationState) | undefined;
  registerMetric(
    registry,
    "gauge",
    "svc_access_revocations",
    "Revocations of tokens that the service knows.",
    function* () {
      if (revocations !== undefined) yield { labels: {}, value: revocations().size };
    },
  );
  registerMetric(
    registry,
    "gauge",
    "svc_access_revocations_current",
    "Whether the service knows all revocations of tokens: 1, or 0 while it does not hear of them.",
    function* () {
      if (revocations !== undefined) yield { labels: {}, value: Number(revocations().isCurrent) };
    },
  );
  return {
    events: eventMetrics(registry),
    observer: new CallMetrics(registry),
    unrouted: (transport, code) => unrouted.increment(transport, code),
    databasePool: (name, state) => void pools.set(name, state),
    auditClockAhead: (ms) => {
      clockAhead = ms;
    },
    revocations: (state) => {
      revocations = state;
    },
    readiness: (given) => {
      isReady = given;
    },
    service: (metric, logger) => addServiceMetric(registry, metric, logger),
    async text() {
      // Before the others: while it is found out, dependencies are asked, by connections that would be counted as used.
      ready = await isReady?.();
      const texts = await Promise.all([registry, ...others].map((one) => one.metrics()));
      return { contentType: registry.contentType, body: texts.join("\n") };
    },
  };
}

/** Gauges by the names of counters; each is the sum of another metric. */
const MISNAMED = ["active_resources_total", "active_handles_total", "active_requests_total"];

let ofProcess: Registry | undefined;

/** Node's metrics, once per process: their observers cannot be removed. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    for (const name of MISNAMED) ofProcess.removeSingleMetric(`nodejs_${name}`);
  }
  return ofProcess;
}
