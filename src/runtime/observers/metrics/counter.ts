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
  samples: () => Iterable<Sample> | Promise<Iterable<Sample>>,
): void {
  const metric = {
    name,
    get: async () => ({ name, help, type, aggregator: "sum", values: [...(await samples())] }),
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
export class Counter {
  readonly #labels: readonly string[];
  readonly #outcomes: readonly string[];
  /** By the first label, then by the second: a key of both would be made for each count. */
  readonly #counts = new Map<string, Map<string, Series>>();
  #size = 0;

  /**
   * @param outcomes the values of the last label that are known beforehand: they are there from
   * the start at 0, else a rate would miss the first of each
   */
  constructor(
    registry: Registry,
    name: string,
    help: string,
    labels: readonly string[],
    outcomes: readonly string[] = [],
  ) {
    this.#labels = labels;
    this.#outcomes = outcomes;
    if (labels.length === 1) for (const outcome of outcomes) this.#add(outcome, "");
    registerMetric(registry, "counter", name, help, () => this.#samples());
  }

  /** The series of a first label are there from now on, at 0. */
  expect(first: string): void {
    if (this.#counts.has(first)) return;
    this.#add(first, this.#labels.length > 1 ? (this.#outcomes[0] ?? "") : "");
  }

  increment(first = "", second = ""): void {
    const series = this.#counts.get(first)?.get(second) ?? this.#add(first, second);
    series.count++;
  }

  #add(first: string, second: string): Series {
    if (this.#size >= MAX_SERIES && first !== OTHER) {
      const others = this.#labels.length > 1 ? OTHER : "";
      return this.#counts.get(OTHER)?.get(others) ?? this.#add(OTHER, others);
    }
    let seconds = this.#counts.get(first);
    if (seconds === undefined) {
      this.#counts.set(first, (seconds = new Map()));
      if (this.#labels.length > 1 && first !== OTHER) {
        for (const outcome of this.#outcomes) this.#add(first, outcome);
      }
    }
    const known = seconds.get(second);
    if (known !== undefined) return known;
    const series = { values: [first, second], count: 0 };
    seconds.set(second, series);
    this.#size++;
    return series;
  }

  *#samples(): Iterable<Sample> {
    // Without labels there is one series, from the start.
    if (this.#labels.length === 0 && this.#size === 0) yield { labels: {}, value: 0 };
    for (const seconds of this.#counts.values()) {
      for (const { values, count } of seconds.values()) {
        const labels = Object.fromEntries(
          this.#labels.map((label, index) => [label, values[index] ?? ""]),
        );
        yield { labels, value: count };
      }
    }
  }
}
