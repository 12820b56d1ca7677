import { ServiceError } from "svc-access/runtime";

/** Of calls that change one record at the same moment, one succeeds each time: more of them wait for connections. */
const MOST_ATTEMPTS = 24;

/** Somebody else changed a record after it was read: FAILED_PRECONDITION. */
export class ChangedMeanwhileError extends ServiceError {
  constructor(message: string) {
    super("FAILED_PRECONDITION", message);
  }
}

/**
 * Changes a record. Whoever names no etag does not ask whether others change it, too: after another change the newest
 * record is read and changed again, until the caller stops waiting, and not without end.
 *
 * @param etag that of the request; empty: not checked
 * @param change reads the record, and changes it only if it is still what was read
 * @throws ChangedMeanwhileError where the etag is another one by now; whatever the change throws
 */
export async function changeNewest<Result>(
  etag: string,
  signal: AbortSignal,
  change: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      const isLostRace = error instanceof ChangedMeanwhileError && etag === "";
      if (!isLostRace || signal.aborted || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}
