import { AuthzError } from "../authz-error.ts";
import type { Revision } from "../engine.ts";
import { formatRevision, parseRevision } from "./revision-token.ts";

/** The revision of the head, as callers have it. */
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
