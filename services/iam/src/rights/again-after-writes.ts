import { AuthzError } from "svc-access/authz";

/** How often a listing is begun again because of writes. */
const ATTEMPTS = 5;

/** Whether a listing of the engine can continue only from its beginning: there were writes meanwhile. */
export function isOutdated(error: unknown): boolean {
  return error instanceof AuthzError && error.code === "OUT_OF_RANGE";
}

/**
 * Counts the attempts of a listing.
 *
 * @returns the next one, after writes
 * @throws AuthzError the error itself, or UNAVAILABLE after too many attempts
 */
export function nextAttempt(attempt: number, error: unknown): number {
  if (!isOutdated(error)) throw error;
  if (attempt < ATTEMPTS) return attempt + 1;
  const message = "relationships are written faster than they can be listed";
  throw new AuthzError("UNAVAILABLE", message, { cause: error });
}

/** Reads all pages of a listing; from the first one again if there were writes meanwhile. */
export async function againAfterWrites<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; ) {
    try {
      return await read();
    } catch (error) {
      attempt = nextAttempt(attempt, error);
    }
  }
}
