/** Smaller responses, and smaller incomplete messages, are not counted. */
export const COUNTED_FROM_BYTES = 16 * 1024;

/** A response that waits for its client. */
interface Unread {
  readonly bytes: number;
  readonly cutOff: () => void;
}

/**
 * The responses that clients have not read yet. A client that sends requests and does not read
 * would fill the memory: if there are too many, those that have waited longest are cut off.
 * Responses of a connection count for the process, too.
 */
export class UnreadResponses {
  readonly #limit: number;
  readonly #parent: UnreadResponses | undefined;
  readonly #onCutOff: () => void;
  readonly #waiting = new Set<Unread>();
  #bytes = 0;
  #isClosed = false;

  /**
   * @param limit in bytes
   * @param onCutOff called for each response that is cut off, also those of parts
   */
  constructor(limit: number, onCutOff: () => void = nothing, parent?: UnreadResponses) {
    this.#limit = limit;
    this.#onCutOff = onCutOff;
    this.#parent = parent;
  }

  /** How many bytes wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The responses of a part, within this limit. */
  within(limit: number): UnreadResponses {
    return new UnreadResponses(limit, this.#onCutOff, this);
  }

  /**
   * Counts a response, or a part of it. It is sent in any case: it is in memory already.
   *
   * @param cutOff aborts the response; it may end the wait itself
   * @returns a function that ends the wait: the client has read it, or has disconnected; may be called
   * again
   */
  add(bytes: number, cutOff: () => void): () => void {
    if (bytes < COUNTED_FROM_BYTES || this.#isClosed) return nothing;
    const unread = { bytes, cutOff };
    this.#add(unread);
    return () => this.#remove(unread);
  }

  /** The connection is closed: nothing waits any more. */
  close(): void {
    this.#isClosed = true;
    for (const unread of this.#waiting) this.#remove(unread);
  }

  #add(unread: Unread): void {
    for (const oldest of this.#waiting) {
      if (this.#bytes + unread.bytes <= this.#limit) break;
      this.#remove(oldest);
      oldest.cutOff();
      this.#onCutOff();
    }
    this.#waiting.add(unread);
    this.#bytes += unread.bytes;
    if (this.#parent !== undefined) this.#parent.#add(unread);
  }

  #remove(unread: Unread): void {
    if (!this.#waiting.delete(unread)) return;
    this.#bytes -= unread.bytes;
    if (this.#parent !== undefined) this.#parent.#remove(unread);
  }
}

function nothing(): void {}
