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
export function registerOwnMetric(
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

/** The most combinations of labels; what comes later is counted together. */
const MAX_SERIES = 1000;
const OTHER = "other";

interface Series {
  readonly values: readonly string[];
  count: number;
}

/** A counter by labels whose values the runtime chooses. */
export class OwnCounter {
  readonly #labels: readonly string[];
  readonly #counts = new Map<string, Series>();

  constructor(registry: Registry, name: string, help: string, labels: readonly string[]) {
    this.#labels = labels;
    registerOwnMetric(registry, "counter", name, help, () => this.#samples());
  }

  increment(first = "", second = ""): void {
    const key = second === "" ? first : `${first}\n${second}`;
    const series = this.#counts.get(key) ?? this.#add(key, [first, second]);
    series.count++;
  }

  #add(key: string, values: readonly string[]): Series {
    if (this.#counts.size >= MAX_SERIES && values[0] !== OTHER) return this.#other();
    const series = { values, count: 0 };
    this.#counts.set(key, series);
    return series;
  }

  #other(): Series {
    const values = this.#labels.map(() => OTHER);
    const key = values.join("\n");
    return this.#counts.get(key) ?? this.#add(key, values);
  }

  *#samples(): Iterable<Sample> {
    // Without labels there is one series, from the start.
    if (this.#labels.length === 0 && this.#counts.size === 0) yield { labels: {}, value: 0 };
    for (const { values, count } of this.#counts.values()) {
      const labels = Object.fromEntries(
        this.#labels.map((label, index) => [label, values[index] ?? ""]),
      );
      yield { labels, value: count };
    }
  }
}
