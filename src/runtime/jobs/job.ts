/**
 * Work that a service repeats while it runs, such as the removal of expired rows.
 *
 * @example
 * ```ts
 * const removeOldTopics: Job = {
 *   name: "remove_old_topics",
 *   every: "10m",
 *   exclusive: true,
 *   async run(signal) {
 *     while (!signal.aborted) {
 *       const [result] = await database.kysely.deleteFrom("topics").where("name", "=", "").execute();
 *       if (result?.numDeletedRows === 0n) return;
 *     }
 *   },
 * };
 * ```
 */
export interface Job {
  /** Its name in logs and metrics: lower-case letters, digits and `_`. */
  readonly name: string;
  /**
   * How often it runs: a number with `ms`, `s`, `m`, `h` or `d`, such as `10m`, from `100ms` to `20d`.
   * The first run is soon after the start, and each is up to a tenth earlier or later, so that
   * replicas do not work at the same moment. A run that is late delays the next one: they never overlap.
   */
  readonly every: string;
  /** How long a run may take, in the same form; the shorter of `every` and `5m` if absent. */
  readonly deadline?: string;
  /**
   * Whether it runs in one process of the service at a time, and once per `every` in all of them
   * together, by a lease in the database of the configuration. False if absent: each process runs it.
   */
  readonly exclusive?: boolean;
  /**
   * Does the work. It ends when the signal aborts: at the deadline, when the server stops, or if the
   * lease of an exclusive job is lost.
   */
  readonly run: (signal: AbortSignal) => Promise<void> | void;
}

/** A job with its times in milliseconds. */
export interface TimedJob extends Omit<Job, "every" | "deadline"> {
  readonly everyMs: number;
  readonly deadlineMs: number;
}

const MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LEAST_MS = 100;
/** Node's timers hold 24 days; a longer one would fire at once. */
const MOST_MS = 20 * 86_400_000;
const DEADLINE_MS = 300_000;
const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Checks jobs.
 *
 * @param hasDatabase - whether there is a database for leases
 */
export function checkJobs(
  jobs: readonly Job[],
  hasDatabase: boolean,
): { readonly jobs: readonly TimedJob[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const names = new Set<string>();
  const timed = jobs.map((job, index): TimedJob => {
    const { name, every, deadline, exclusive } = job;
    const label = typeof name === "string" && NAME.test(name) ? `the job ${name}` : undefined;
    const who = label ?? `job ${index + 1}`;
    if (label === undefined) {
      problems.push(
        `the name ${JSON.stringify(name)} of job ${index + 1} is not valid: use lower-case letters, digits and _, at most 63`,
      );
    } else if (names.has(name)) {
      problems.push(`there are two jobs ${name}: rename one`);
    }
    names.add(name);
    if (typeof job.run !== "function") problems.push(`${who} has no function run`);
    if (exclusive === true && !hasDatabase) {
      problems.push(
        `${who} is exclusive, which needs a database for its lease: configure database, such as {driver: sqlite, file: …}`,
      );
    }
    const everyMs = millisecondsOf(every);
    if (everyMs === undefined) problems.push(`${who}: every ${formOf(every)}`);
    const deadlineMs = deadline === undefined ? DEADLINE_MS : millisecondsOf(deadline);
    if (deadlineMs === undefined) problems.push(`${who}: deadline ${formOf(deadline)}`);
    const longest = deadline === undefined ? Math.min(DEADLINE_MS, everyMs ?? 0) : deadlineMs;
    return { ...job, everyMs: everyMs ?? 0, deadlineMs: longest ?? 0 };
  });
  return { jobs: timed, problems };
}

function formOf(value: unknown): string {
  return `is ${JSON.stringify(value) ?? "missing"}: write a number with ms, s, m, h or d, from 100ms to 20d`;
}

function millisecondsOf(text: unknown): number | undefined {
  const [, number = "", unit = ""] = /^([1-9]\d{0,9})(ms|s|m|h|d)$/.exec(String(text)) ?? [];
  const value = Number(number) * (MS[unit] ?? Number.NaN);
  return typeof text === "string" && value >= LEAST_MS && value <= MOST_MS ? value : undefined;
}
