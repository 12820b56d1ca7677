/** Series that were scraped from running services, and what expressions find in them. */
import { type Matcher, namesIn, type Selector } from "./expression.ts";

type Labels = Readonly<Record<string, string>>;

/** The labels that a scrape adds. */
const OF_SCRAPE = ["job", "instance"];
/** Made by Prometheus itself for each target. */
const OF_PROMETHEUS = new Set(["up"]);

/** The series of some services, by metric. */
export class RecordedMetrics {
  readonly #series = new Map<string, Labels[]>();

  /** @param text what a service answered for `/metrics` */
  add(text: string): void {
    for (const [, metric = "", list = ""] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
      const pairs = [...list.matchAll(/(\w+)="([^"]*)"/g)];
      const labels = Object.fromEntries(pairs.map(([, label = "", value = ""]) => [label, value]));
      for (const label of OF_SCRAPE) {
        // Prometheus would rename it, and expressions would mean the other one.
        if (label in labels) throw new Error(`${metric} has the label ${label} of a scrape`);
      }
      const known = this.#series.get(metric);
      if (known === undefined) this.#series.set(metric, [labels]);
      else known.push(labels);
    }
  }

  get size(): number {
    return this.#series.size;
  }

  /** What an expression names and no service has. */
  problems(expr: string, others: readonly string[] = []): string[] {
    const { selectors, grouping } = namesIn(expr);
    const used = selectors.filter(({ metric }) => !OF_PROMETHEUS.has(metric));
    const labels = new Set(OF_SCRAPE);
    for (const { metric } of used) {
      for (const series of this.#series.get(metric) ?? []) {
        for (const label of Object.keys(series)) labels.add(label);
      }
    }
    return [
      ...used.flatMap((selector) => this.#problemsOf(selector)),
      ...[...grouping, ...others]
        .filter((label) => !labels.has(label))
        .map((label) => `no series has the label ${label}`),
    ];
  }

  #problemsOf({ metric, matchers }: Selector): string[] {
    const all = this.#series.get(metric);
    if (all === undefined) return [`no service has ${metric}`];
    const own = matchers.filter(({ label }) => !OF_SCRAPE.includes(label));
    const unknown = own.filter(({ label }) => !all.some((labels) => label in labels));
    if (unknown.length > 0) return unknown.map(({ label }) => `${metric} has no label ${label}`);
    if (all.some((labels) => own.every((matcher) => matches(labels, matcher)))) return [];
    const shown = own.map(({ label, operator, value }) => `${label}${operator}"${value}"`);
    return [`no series is ${metric}{${shown.join(",")}}`];
  }
}

function matches(labels: Labels, { label, operator, value }: Matcher): boolean {
  const actual = labels[label] ?? "";
  const isEqual = operator.includes("~")
    ? new RegExp(`^(?:${value})$`).test(actual)
    : actual === value;
  return isEqual !== operator.startsWith("!");
}
