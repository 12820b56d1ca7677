import {
  type MetricSample,
  ofRuntime,
  type ServiceMetric,
} from "../observers/metrics/service-metric.ts";
import type { PendingRemovals, RemovalQueue } from "./removal-queue.ts";

const NOTHING: PendingRemovals = { count: 0, oldestMs: 0 };

/** The metrics of removals, by kind. */
export class RemovalMetrics {
  readonly #queue: Pick<RemovalQueue, "pending">;
  readonly #kinds = new Set<string>();
  #removed = 0;
  #reading: ReturnType<RemovalQueue["pending"]> | undefined;

  constructor(queue: Pick<RemovalQueue, "pending">) {
    this.#queue = queue;
  }

  /** A kind that is there from now on, at 0. */
  expect(kind: string): void {
    this.#kinds.add(kind);
  }

  /** Counts relationships. */
  removed(count: number): void {
    this.#removed += count;
  }

  readonly all: readonly ServiceMetric[] = [
    {
      name: "svc_access_removals_pending",
      help: "Deleted records whose relationships are still being removed.",
      type: "gauge" as const,
      read: () => this.#pending(({ count }) => count),
    },
    {
      name: "svc_access_removals_oldest_seconds",
      help: "How long ago the oldest of the pending removals began.",
      type: "gauge" as const,
      read: () => this.#pending(({ oldestMs }) => oldestMs / 1000),
    },
    {
      name: "svc_access_removed_relationships_total",
      help: "Relationships of deleted records that this process has removed.",
      type: "counter" as const,
      read: () => [{ value: this.#removed }],
    },
  ].map(ofRuntime);

  async #pending(valueOf: (pending: PendingRemovals) => number): Promise<MetricSample[]> {
    // One query for all that a scrape reads.
    this.#reading ??= this.#queue.pending().finally(() => (this.#reading = undefined));
    const pending = await this.#reading;
    // Also of a kind that only another version of the service knows: nothing removes it here.
    return [...new Set([...this.#kinds, ...pending.keys()])].map((kind) => ({
      labels: { kind },
      value: valueOf(pending.get(kind) ?? NOTHING),
    }));
  }
}
