import type { MetricSample, ServiceMetric } from "svc-access/runtime";

/**
 * What somebody has proven who they are with: `passkey` in place of a password, `second_factor` after one,
 * `client` for applications and service accounts, which have a secret or a key.
 */
const METHODS = ["password", "passkey", "second_factor", "client"] as const;
/** `slowed`: refused without a look, after too many failures. */
const OUTCOMES = ["succeeded", "failed", "slowed"] as const;

/** What an attempt to log in was made with. */
export type LoginMethod = (typeof METHODS)[number];
/** How an attempt to log in ended. */
export type LoginOutcome = (typeof OUTCOMES)[number];

/** Counts attempts to log in, so that an alert sees who guesses passwords, codes and secrets. */
export class LoginAttempts {
  readonly #counts = new Map<LoginMethod, Map<LoginOutcome, number>>();

  constructor() {
    // From the start, so that a rate includes the first of each.
    for (const method of METHODS) {
      this.#counts.set(method, new Map(OUTCOMES.map((outcome) => [outcome, 0])));
    }
  }

  count(method: LoginMethod, outcome: LoginOutcome): void {
    const outcomes = this.#counts.get(method);
    outcomes?.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  get metric(): ServiceMetric {
    return {
      name: "iam_login_attempts_total",
      help: "Attempts to log in, by what they were made with and their outcome.",
      type: "counter",
      read: () => [...this.#samples()],
    };
  }

  *#samples(): Iterable<MetricSample> {
    for (const [method, outcomes] of this.#counts) {
      for (const [outcome, value] of outcomes) yield { labels: { method, outcome }, value };
    }
  }
}
