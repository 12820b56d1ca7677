import type { Logger } from "../../common/logger.ts";
import { within } from "../../common/within.ts";
import type { Probe, ProbeAnswer } from "../http/server/probe.ts";
import { redactText } from "../logging/redaction/redact-text.ts";

/**
 * Whether a dependency of the service is available: undefined if it is, else a reason, which
 * `/readyz` shows to anybody. It may throw instead; the error is only logged. It has one second,
 * then the signal aborts; the result is cached for a second.
 *
 * A `detail` is shown too, but the service stays ready: something is missing, and calls are better
 * served without it than not at all.
 *
 * @example
 * ```ts
 * const search: ReadinessCheck = async (signal) => {
 *   const { ok } = await fetch("http://search:9200/_health", { signal });
 *   return ok ? undefined : "is not healthy";
 * };
 * ```
 */
export type ReadinessCheck = (signal: AbortSignal) => Promise<ReadinessResult> | ReadinessResult;

/** The result of a readiness check. */
export type ReadinessResult = string | ReadinessDetail | undefined;

/** What is missing although the service is ready. */
export interface ReadinessDetail {
  /** A text that `/readyz` shows to anybody. */
  readonly detail: string;
}

/** How checks are made. */
export interface ReadinessOptions {
  /** How long a check may take. */
  readonly timeoutMs?: number;
  /** How long results of checks are cached, so that probes cannot overload the dependencies. */
  readonly cacheMs?: number;
  readonly logger?: Logger;
}

/** What the checks have found, as texts. */
interface ReadinessFindings {
  /** Why the process is not ready. */
  readonly reasons: readonly string[];
  /** What is missing besides. */
  readonly details: readonly string[];
}

/** The time limit of a check; the limits of the probes that it calls are shorter. */
export const TIMEOUT_MS = 1000;
const CACHE_MS = 1000;

/**
 * Whether a process should get calls: it has started, is not shutting down, and its dependencies
 * are available. It is not ready until it is notified that start-up is over.
 */
export class ServerReadiness {
  readonly #checks = new Map<string, ReadinessCheck>();
  readonly #options: ReadinessOptions;
  #state: "starting" | "ready" | "draining" = "starting";
  #last: { readonly at: number; readonly findings: Promise<ReadinessFindings> } | undefined;
  #logged = "";

  constructor(options: ReadinessOptions = {}) {
    this.#options = options;
  }

  /** `ready` means that start-up is over; the checks decide the rest. */
  get state(): "starting" | "ready" | "draining" {
    return this.#state;
  }

  /** Start-up is over. Draining is final. */
  started(): void {
    if (this.#state === "starting") this.#state = "ready";
  }

  /** The process ends: no new calls from now on. */
  draining(): void {
    this.#state = "draining";
  }

  /**
   * Adds a dependency of the service, with the name that reasons begin with.
   *
   * @throws Error if the name is taken: no check may hide another
   */
  add(name: string, check: ReadinessCheck): void {
    if (this.#checks.has(name)) throw new Error(`there are two readiness checks called ${name}`);
    this.#checks.set(name, check);
    this.#last = undefined;
  }

  /** Why the process is not ready; empty if it is. */
  async reasons(): Promise<readonly string[]> {
    return (await this.#findings()).reasons;
  }

  /**
   * What `/readyz` answers, by the same cached results. It is logged, too: behind a load balancer that does
   * not ask `/readyz`, only the metrics do.
   */
  async isReady(): Promise<boolean> {
    const { reasons } = await this.#findings();
    this.#log(reasons);
    return reasons.length === 0;
  }

  /** The probes `/healthz` and `/readyz`. */
  probes(): readonly Probe[] {
    return [
      { path: "/healthz", handle: async () => ({ status: 200, body: { status: "ok" } }) },
      { path: "/readyz", handle: () => this.#ready() },
    ];
  }

  async #ready(): Promise<ProbeAnswer> {
    const { reasons, details } = await this.#findings();
    this.#log(reasons);
    const more = details.length === 0 ? {} : { details };
    return reasons.length === 0
      ? { status: 200, body: { status: "ready", ...more } }
      : { status: 503, body: { status: "not_ready", reasons, ...more } };
  }

  async #findings(): Promise<ReadinessFindings> {
    if (this.#state === "draining") return { reasons: ["draining"], details: [] };
    const { reasons, details } = await this.#checked();
    return { reasons: this.#state === "starting" ? ["starting", ...reasons] : reasons, details };
  }

  /** Only changes are logged. */
  #log(reasons: readonly string[]): void {
    const said = reasons.join("; ");
    if (said === this.#logged) return;
    this.#logged = said;
    if (said === "") this.#options.logger?.info({}, "ready");
    else this.#options.logger?.warn({ reasons }, "not ready");
  }

  #checked(): Promise<ReadinessFindings> {
    const { cacheMs = CACHE_MS } = this.#options;
    const now = performance.now();
    if (this.#last === undefined || now - this.#last.at >= cacheMs) {
      const all = [...this.#checks].map(([name, check]) => this.#check(name, check));
      const findings = Promise.all(all).then((found) => ({
        reasons: found.filter((one) => typeof one === "string"),
        details: found.flatMap((one) => (typeof one === "object" ? [one.detail] : [])),
      }));
      this.#last = { at: now, findings };
    }
    return this.#last.findings;
  }

  async #check(name: string, check: ReadinessCheck): Promise<ReadinessResult> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const abort = new AbortController();
    try {
      const found = await within(Promise.resolve(check(abort.signal)), timeoutMs, () => {
        abort.abort();
        return "does not answer";
      });
      if (found === undefined) return undefined;
      if (typeof found === "string") return `${name}: ${redactText(found)}`;
      return { detail: `${name}: ${redactText(found.detail)}` };
    } catch (error) {
      // The details of a failure are only logged, since anybody can call a probe.
      this.#options.logger?.debug({ check: name, error }, "a readiness check failed");
      return `${name}: fails`;
    }
  }
}
