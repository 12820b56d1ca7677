/** The longest time that is waited for, in seconds: a limit on attempts, such as of a login, lasts longer. */
const MOST_SECONDS = 5;
/** How often one call is repeated. */
const MOST_REPEATS = 20;

/**
 * The result of one of many calls, such as the pages of a list: where they come faster than the server takes them,
 * it is repeated when the server says.
 *
 * @throws ServiceError RATE_LIMITED if the server says nothing, or says so again and again
 */
export async function withinRate<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await call();
    } catch (error) {
      const { code, retryAfterSeconds: seconds = Number.POSITIVE_INFINITY } = error as Refusal;
      if (code !== "RATE_LIMITED" || seconds > MOST_SECONDS || repeats === MOST_REPEATS)
        throw error;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

interface Refusal {
  readonly code?: unknown;
  readonly retryAfterSeconds?: number;
}
