import type { Metric, Registry } from "prom-client";

/** One sample of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** With a histogram: the metric's name and `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/**
 * Registers a metric whose samples are read when it is scraped. The counting is our
 * own: that of prom-client hashes its labels on each call.
 */
export function registerMetric(
  registry: Registry,
  type: "counter" | "gauge" | "histogram",
  name: string,
  help: string,
  samples: () => Iterable<Sample>,
): void {
  const metric = {
    name,
    get: () => Promise.resolve({ name, help, type, aggregator: "sum", values: [...samples()] }),
    reset: () => undefined,
  };
  registry.registerMetric(metric as unknown as Metric);
}
