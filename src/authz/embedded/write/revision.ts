import { AuthzError } from "../../engine/authz-error.ts";
import type { Revision } from "../../engine/requests.ts";

const VERSION = "1";
const KIND = "embedded";

/** The token of a state: its version, engine and store, and the number of its last write. */
export function formatRevision(storeId: string, sequence: number): Revision {
  return Buffer.from([VERSION, KIND, sequence, storeId].join(":")).toString("base64url");
}

/**
 * The number of the last write of a state.
 *
 * @throws AuthzError INVALID_ARGUMENT if the token is malformed or belongs to another store
 */
export function parseRevision(storeId: string, revision: Revision): number {
  const text = Buffer.from(String(revision), "base64url").toString();
  const [version, kind, digits = "", ...rest] = text.split(":");
  const sequence = Number(digits);
  const isOurs =
    version === VERSION && kind === KIND && Number.isSafeInteger(sequence) && sequence >= 0;
  // Encoded again, because the decoder ignores characters that are not base64url.
  if (!isOurs || formatRevision(rest.join(":"), sequence) !== revision) {
    throw new AuthzError("INVALID_ARGUMENT", "the revision token is malformed");
  }
  if (rest.join(":") !== storeId) {
    throw new AuthzError("INVALID_ARGUMENT", "the revision token belongs to another store");
  }
  return sequence;
}

/** The revision of the head, as a token. */
export class HeadRevision {
  readonly #storeId: string;
  readonly #writer: { readonly sequence: number };
  /** The token, made once for all calls that see the same head. */
  #made: { readonly sequence: number; readonly revision: Revision } = {
    sequence: -1,
    revision: "",
  };

  constructor(storeId: string, writer: { readonly sequence: number }) {
    this.#storeId = storeId;
    this.#writer = writer;
  }

  revision(): Revision {
    const { sequence } = this.#writer;
    if (this.#made.sequence !== sequence) {
      this.#made = { sequence, revision: formatRevision(this.#storeId, sequence) };
    }
    return this.#made.revision;
  }

  /** This process holds the only head, so a later state was lost, as with a backup: waiting does not help. */
  parse(revision: Revision): number {
    const sequence = parseRevision(this.#storeId, revision);
    if (sequence <= this.#writer.sequence) return sequence;
    throw new AuthzError(
      "FAILED_PRECONDITION",
      "the revision is later than the last write of this store; was it restored from a backup?",
    );
  }
}
