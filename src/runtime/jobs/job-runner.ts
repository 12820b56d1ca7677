import type { Logger } from "../../common/logger.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import type { TimedJob } from "./job.ts";

/** What lets one process of many run a job; `JobLease` is one. */
export interface Lease {
  take(): Promise<number>;
  renew(): Promise<boolean>;
  giveBack(dueMs: number | undefined): Promise<void>;
}

/** What a runner needs beside its job. */
export interface JobRunnerOptions {
  readonly logger: Logger;
  readonly events: RuntimeEvents;
  /** The lease of an exclusive job, and how often it is renewed and how long it is held. */
  readonly lease?: { readonly of: Lease; readonly renewMs: number; readonly heldMs: number };
}

/** The first run is within this time. */
const SOON_MS = 10_000;
/** How much earlier or later a run may be, as a part of the interval. */
const JITTER = 0.1;

/** Repeats one job until it is stopped. */
export class JobRunner {
  readonly #job: TimedJob;
  readonly #options: JobRunnerOptions;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;

  constructor(job: TimedJob, options: JobRunnerOptions) {
    this.#job = job;
    this.#options = options;
    options.events.expect("job", job.name);
  }

  /** The name of the job. */
  get name(): string {
    return this.#job.name;
  }

  /** Runs the job soon, and then at its interval. */
  start(): void {
    this.#next(Math.random() * Math.min(this.#job.everyMs, SOON_MS));
  }

  /** Starts no more runs, makes the one under way end, and waits for it. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopped.abort(new Error("the server stops"));
    await this.#turn;
  }

  #next(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#turn = this.#takeTurn().then((next) => this.#next(next));
    }, delayMs);
    this.#timer.unref();
  }

  /** @returns the time to the next turn */
  async #takeTurn(): Promise<number> {
    const { everyMs } = this.#job;
    const interval = everyMs * (1 - JITTER + 2 * JITTER * Math.random());
    const begin = performance.now();
    const { lease } = this.#options;
    if (lease === undefined) {
      await this.#run();
    } else {
      const waits = await this.#runWithLease(lease, interval);
      // Those that wait for one moment should not all ask in it.
      if (waits > 0) return waits + Math.random() * Math.min(1000, JITTER * everyMs);
    }
    return Math.max(JITTER * everyMs, interval - (performance.now() - begin));
  }

  async #runWithLease(
    { of: lease, renewMs, heldMs }: NonNullable<JobRunnerOptions["lease"]>,
    interval: number,
  ): Promise<number> {
    const begin = performance.now();
    try {
      const waits = await lease.take();
      if (waits > 0) return waits;
    } catch (error) {
      this.#failed(error, "the lease of a job cannot be taken");
      return interval;
    }
    const lost = new AbortController();
    let held = performance.now();
    const renewing = setInterval(() => {
      lease.renew().then(
        (isHeld) => {
          if (isHeld) held = performance.now();
          else lost.abort(new Error("another process has taken the lease"));
        },
        (error: unknown) => {
          if (performance.now() - held < heldMs - renewMs) return;
          lost.abort(new Error("the lease could not be renewed", { cause: error }));
        },
      );
    }, renewMs);
    renewing.unref();
    await this.#run(lost.signal);
    clearInterval(renewing);
    // One that was cut off is for another process to do.
    const isCut = this.#stopped.signal.aborted;
    const rest = Math.max(0, interval - (performance.now() - begin));
    await lease.giveBack(isCut ? undefined : rest).catch((error: unknown) => {
      const { name } = this.#job;
      // It expires by itself.
      this.#options.logger.warn({ error, job: name }, "the lease of a job cannot be given back");
    });
    return 0;
  }

  /** Runs the job once. Does not reject. */
  async #run(lost?: AbortSignal): Promise<void> {
    const { name, deadlineMs, run } = this.#job;
    const { logger, events } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => {
      events.job(name, "timed_out");
      logger.error(
        { job: name, deadline_ms: deadlineMs },
        "a job takes too long: its signal is aborted",
      );
      late.abort(new Error(`the job ${name} takes longer than ${deadlineMs} ms`));
    }, deadlineMs);
    timer.unref();
    const signals = [this.#stopped.signal, late.signal, ...(lost === undefined ? [] : [lost])];
    try {
      await run(AbortSignal.any(signals));
      if (!late.signal.aborted) events.job(name, "succeeded");
    } catch (error) {
      // It has been counted, or its signal was aborted.
      if (late.signal.aborted || this.#stopped.signal.aborted) {
        logger.debug({ job: name, error }, "a job has ended early");
      } else {
        this.#failed(error, "a job has failed");
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #failed(error: unknown, message: string): void {
    const { name } = this.#job;
    this.#options.events.job(name, "failed");
    this.#options.logger.error({ error, job: name }, message);
  }
}
