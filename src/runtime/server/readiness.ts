import type { Logger } from "../../common/logger.ts";
import { within } from "../../common/within.ts";
import type { Probe, ProbeAnswer } from "../http/server/probe.ts";
import { redactText } from "../logging/redaction/redact-text.ts";

/**
 * Whether a dependency of the service is available: undefined if it is, else a reason, which
 * `/readyz` shows to anybody. It may throw instead; the error is only logged. It has one second,
 * then the signal aborts; the result is cached for a second.
 *
 * @example
 * ```ts
 * const search: ReadinessCheck = async (signal) => {
 *   const { ok } = await fetch("http://search:9200/_health", { signal });
 *   return ok ? undefined : "is not healthy";
 * };
 * ```
 */
export type ReadinessCheck = (
  signal: AbortSignal,
) => Promise<string | undefined> | string | undefined;

/** How checks are made. */
export interface ReadinessOptions {
  /** How long a check may take. */
  readonly timeoutMs?: number;
  /** How long results of checks are cached, so that probes cannot overload the dependencies. */
  readonly cacheMs?: number;
  readonly logger?: Logger;
}

/** The time limit of a check; the limits of what the checks ask are shorter. */
export const TIMEOUT_MS = 1000;
const CACHE_MS = 1000;

/**
 * Whether a process should get calls: it has started, is not shutting down, and its dependencies
 * are available. It is not ready until it is notified that start-up is over.
 */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();
  readonly #options: ReadinessOptions;
  #state: "starting" | "ready" | "draining" = "starting";
  #last: { readonly at: number; readonly reasons: Promise<readonly string[]> } | undefined;
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

  /** Why the process is not ready; empty where it is. */
  async reasons(): Promise<readonly string[]> {
    if (this.#state === "draining") return ["draining"];
    const reasons = await this.#checked();
    return this.#state === "starting" ? ["starting", ...reasons] : reasons;
  }

  /** The probes `/healthz` and `/readyz`. */
  probes(): readonly Probe[] {
    return [
      { path: "/healthz", handle: async () => ({ status: 200, body: { status: "ok" } }) },
      { path: "/readyz", handle: () => this.#ready() },
    ];
  }

  async #ready(): Promise<ProbeAnswer> {
    const reasons = await this.reasons();
    this.#log(reasons);
    return reasons.length === 0
      ? { status: 200, body: { status: "ready" } }
      : { status: 503, body: { status: "not_ready", reasons } };
  }

  /** Only changes are logged. */
  #log(reasons: readonly string[]): void {
    const said = reasons.join("; ");
    if (said === this.#logged) return;
    this.#logged = said;
    if (said === "") this.#options.logger?.info({}, "ready");
    else this.#options.logger?.warn({ reasons }, "not ready");
  }

  #checked(): Promise<readonly string[]> {
    const { cacheMs = CACHE_MS } = this.#options;
    const now = performance.now();
    if (this.#last === undefined || now - this.#last.at >= cacheMs) {
      const all = [...this.#checks].map(([name, check]) => this.#check(name, check));
      const reasons = Promise.all(all).then((found) => found.filter((one) => one !== undefined));
      this.#last = { at: now, reasons };
    }
    return this.#last.reasons;
  }

  async #check(name: string, check: ReadinessCheck): Promise<string | undefined> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const abort = new AbortController();
    try {
      const reason = await within(Promise.resolve(check(abort.signal)), timeoutMs, () => {
        abort.abort();
        return "does not answer";
      });
      return reason === undefined ? undefined : `${name}: ${redactText(reason)}`;
    } catch (error) {
      // The details of a failure are only logged, since anybody can call a probe.
      this.#options.logger?.debug({ check: name, error }, "a readiness check failed");
      return `${name}: fails`;
    }
  }
}
