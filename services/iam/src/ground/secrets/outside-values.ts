import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import { MissingKeyError, type SealedPlace, type SecretBox, UnsealError } from "./secret-box.ts";

const KEY_ID = /^[\w-]{10}$/;
const PAUSE_MS = 60_000;
/** Anybody can make up the ids of keys. */
const MOST_IDS = 100;
/** The status of gRPC for ABORTED. */
const ABORTED = 10;

/** Says which encryption keys are missing: each at most once a minute, since values from outside name them. */
export class MissingKeyLog {
  readonly #log: Pick<ProcessLogger, "error">;
  readonly #now: () => number;
  /** When each was logged, the oldest first. */
  readonly #logged = new Map<string, number>();

  /** @param now milliseconds of a clock that is never set back */
  constructor(log: Pick<ProcessLogger, "error">, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs a missing key. */
  add(error: MissingKeyError): void {
    const now = this.#now();
    for (const [id, time] of this.#logged) {
      if (time > now - PAUSE_MS) break;
      this.#logged.delete(id);
    }
    const { keyId } = error;
    if (this.#logged.has(keyId) || this.#logged.size >= MOST_IDS) return;
    this.#logged.set(keyId, now);
    this.#log.error(
      { error, key: keyId },
      "what a caller sends back cannot be read: an encryption key is missing",
    );
  }
}

/** Opens what was sealed for a caller, such as a browser, and comes back from it. */
export class OutsideValues {
  readonly #box: SecretBox;
  readonly #missing: MissingKeyLog;

  constructor(box: SecretBox, missing: MissingKeyLog) {
    this.#box = box;
    this.#missing = missing;
  }

  /** Seals a text. */
  seal(text: string, place: SealedPlace): string {
    return this.#box.seal(text, place);
  }

  /**
   * Opens a value.
   *
   * @param otherwise what its caller can do if it cannot be read anywhere any more
   * @returns undefined if it was never sealed for its place
   * @throws ServiceError ABORTED if a key is missing here: another replica may have sealed it. It is not an outage of the
   * service: anybody can name a key that there is not, and one may be removed for good
   */
  open(value: string, place: SealedPlace, otherwise = "begin anew"): string | undefined {
    try {
      return this.#box.open(value, place);
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      if (!(error instanceof MissingKeyError) || !KEY_ID.test(error.keyId)) return undefined;
      this.#missing.add(error);
      const message = `what was sealed cannot be read now, since its key is missing here: try again, or ${otherwise}`;
      const options = { cause: error, grpcStatus: ABORTED, retryAfterSeconds: 1 };
      throw ServiceError.of(409, "ABORTED", message, options);
    }
  }
}
