import type { Registry } from "prom-client";
import type { Logger } from "../../../common/logger.ts";
import { within } from "../../../common/within.ts";
import { registerMetric, type Sample } from "./counter.ts";

/** One value of a metric of a service. */
export interface MetricSample {
  /** Names with values of which there are few, such as the kinds of something: never ids of callers. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value now; of a counter, since the start of the process. */
  readonly value: number;
}

/**
 * A metric of a service, which is read each time that the metrics are scraped.
 *
 * @example
 * ```ts
 * const waiting: ServiceMetric = {
 *   name: "notes_exports_waiting",
 *   help: "Exports that have not begun.",
 *   type: "gauge",
 *   read: async () => [{ value: (await database.kysely.selectFrom("topics").selectAll().execute()).length }],
 * };
 * ```
 */
export interface ServiceMetric {
  /** Lower-case letters, digits and `_`; that of a counter ends in `_total`. It begins with the name of the service. */
  readonly name: string;
  /** What it measures, in one sentence. */
  readonly help: string;
  /** `counter` for what only grows, `gauge` for what goes up and down. */
  readonly type: "counter" | "gauge";
  /**
   * Reads it. A read that fails or takes longer than a second leaves the metric out of that scrape, and is
   * logged. At most 1,000 samples count.
   */
  readonly read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

const NAME = /^[a-z][a-z0-9_]{0,127}$/;
/** Names of the runtime and of Node. */
const RESERVED = /^(?:svc_access_|rpc_server_|db_client_|nodejs_|process_)/;
/** Metrics of parts of the runtime that a service opens and passes on. */
const OF_RUNTIME = new WeakSet<ServiceMetric>();

/** Lets a metric of the runtime have a name of the runtime. */
export function ofRuntime(metric: ServiceMetric): ServiceMetric {
  OF_RUNTIME.add(metric);
  return metric;
}

const MAX_SAMPLES = 1000;
const READ_MS = 1000;

/** What is wrong with the metrics of a service. */
export function metricProblems(metrics: readonly ServiceMetric[]): readonly string[] {
  const names = new Set<string>();
  return metrics.flatMap((metric) => {
    const { name, help, type } = metric;
    const shown = `the metric ${JSON.stringify(name)}`;
    if (typeof name !== "string" || !NAME.test(name)) {
      return [`${shown} is not a name: use lower-case letters, digits and _, at most 128`];
    }
    if (RESERVED.test(name) && !OF_RUNTIME.has(metric)) {
      return [`${shown} begins as those of svc-access and Node do: begin it with the service`];
    }
    if (names.has(name)) return [`there are two metrics ${name}: rename one`];
    names.add(name);
    if ((type === "counter") !== name.endsWith("_total")) {
      return [`${shown} is a ${type}: names of counters end in _total, and no others`];
    }
    if (typeof help !== "string" || help === "")
      return [`${shown} has no help: say what it measures`];
    return [];
  });
}

/** Adds a metric of a service. */
export function addServiceMetric(
  registry: Registry,
  { name, help, type, read }: ServiceMetric,
  logger: Pick<Logger, "warn">,
): void {
  registerMetric(registry, type, name, help, async () => {
    try {
      const late = () => {
        throw new Error(`it took longer than ${READ_MS} ms`);
      };
      return (await within(Promise.resolve(read()), READ_MS, late))
        .slice(0, MAX_SAMPLES)
        .map(toSample);
    } catch (error) {
      logger.warn({ error, metric: name }, "a metric cannot be read");
      return [];
    }
  });
}

function toSample({ labels = {}, value }: MetricSample): Sample {
  return { labels, value };
}
