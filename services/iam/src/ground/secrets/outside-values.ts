import { ServiceError } from "svc-access/runtime";
import type { MissingKeys } from "./missing-key-log.ts";
import { MissingKeyError, type SealedPlace, type SecretBox, UnsealError } from "./secret-box.ts";

const KEY_ID = /^[\w-]{10}$/;
/** The status of gRPC for ABORTED. */
const ABORTED = 10;

/** Opens what was sealed for a caller, such as a browser, and comes back from it. */
export class OutsideValues {
  readonly #box: SecretBox;
  readonly #missing: MissingKeys;

  constructor(box: SecretBox, missing: MissingKeys) {
    this.#box = box;
    this.#missing = missing;
    missing.has(box.keyIds);
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
      this.#missing.add(error.keyId);
      const message = `what was sealed cannot be read now, since its key is missing here: try again, or ${otherwise}`;
      const options = { cause: error, grpcStatus: ABORTED, retryAfterSeconds: 1 };
      throw ServiceError.of(409, "ABORTED", message, options);
    }
  }
}
