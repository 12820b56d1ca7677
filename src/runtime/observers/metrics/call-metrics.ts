import type { Registry } from "prom-client";
import type { BoundMethod } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import { TRANSPORTS, type Transport } from "../../call/transports.ts";
import type { CallObserver } from "../../chain/call-stages.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { registerMetric, type Sample } from "./counter.ts";

/** The upper bounds of the histogram in seconds: OpenTelemetry's for calls, and below them. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** A service that makes up codes must not make up series. */
const MAX_CODES = 32;
const DURATION = "rpc_server_duration_seconds";

/** What was counted of one method over one transport. */
interface MethodCounts {
  readonly rpc: string;
  readonly transport: Transport;
  active: number;
  readonly codes: Map<string, CodeCounts>;
}

interface CodeCounts {
  readonly code: string;
  count: number;
  sum: number;
  /** How many calls ended in each bucket; the last one is above all bounds. */
  readonly buckets: Float64Array;
}

/** Counts calls, how long they took and how many are under way. */
export class CallMetrics implements CallObserver {
  /** Those of a method together, in the order of the transports. */
  readonly #methods: (MethodCounts | undefined)[] = [];

  constructor(registry: Registry) {
    registerMetric(registry, "counter", "rpc_server_requests_total", "Calls that ended.", () =>
      this.#requests(),
    );
    registerMetric(registry, "histogram", DURATION, "How long calls took.", () =>
      this.#durations(),
    );
    registerMetric(registry, "gauge", "rpc_server_active_requests", "Calls under way.", () =>
      this.#active(),
    );
  }

  begin({ method, transport }: Call): void {
    this.#of(method, transport).active++;
  }

  end(call: Call, error: ServiceError | undefined): void {
    const counts = this.#of(call.method, call.transport);
    counts.active--;
    const seconds = call.durationMs / 1000;
    const code = codeOf(counts, error === undefined ? "OK" : error.code);
    code.count++;
    code.sum += seconds;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket++;
    code.buckets[bucket] = (code.buckets[bucket] as number) + 1;
  }

  #of(method: BoundMethod, transport: Transport): MethodCounts {
    const place = TRANSPORTS.length * method.index + TRANSPORTS.indexOf(transport);
    return this.#methods[place] ?? this.#add(place, method.rpc, transport);
  }

  #add(place: number, rpc: string, transport: Transport): MethodCounts {
    const counts: MethodCounts = { rpc, transport, active: 0, codes: new Map() };
    this.#methods[place] = counts;
    return counts;
  }

  *#counted(): Iterable<MethodCounts> {
    for (const counts of this.#methods) if (counts !== undefined) yield counts;
  }

  *#requests(): Iterable<Sample> {
    for (const { rpc, transport, codes } of this.#counted()) {
      for (const { code, count } of codes.values()) {
        yield { labels: { rpc, transport, code }, value: count };
      }
    }
  }

  *#active(): Iterable<Sample> {
    for (const { rpc, transport, active } of this.#counted()) {
      yield { labels: { rpc, transport }, value: active };
    }
  }

  *#durations(): Iterable<Sample> {
    for (const { rpc, transport, codes } of this.#counted()) {
      for (const { code, count, sum, buckets } of codes.values()) {
        const labels = { rpc, transport, code };
        let below = 0;
        for (const [index, bound] of BOUNDS.entries()) {
          below += buckets[index] ?? 0;
          yield {
            labels: { ...labels, le: bound },
            value: below,
            metricName: `${DURATION}_bucket`,
          };
        }
        yield { labels: { ...labels, le: "+Inf" }, value: count, metricName: `${DURATION}_bucket` };
        yield { labels, value: sum, metricName: `${DURATION}_sum` };
        yield { labels, value: count, metricName: `${DURATION}_count` };
      }
    }
  }
}

function codeOf({ codes }: MethodCounts, code: string): CodeCounts {
  const known = codes.get(code);
  if (known !== undefined) return known;
  if (codes.size >= MAX_CODES && code !== "other")
    return codeOf({ codes } as MethodCounts, "other");
  const counts = { code, count: 0, sum: 0, buckets: new Float64Array(BOUNDS.length + 1) };
  codes.set(code, counts);
  return counts;
}
