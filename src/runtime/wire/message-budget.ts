import { ServiceError } from "../error/service-error.ts";

/**
 * What the request messages of all calls together may take in memory, so that a few bytes that unpack
 * to many cannot exhaust the process. A connection has a budget within that of the process.
 */
export class MessageBudget {
  readonly #limit: number;
  readonly #parent: MessageBudget | undefined;
  #taken = 0;

  /** @param limit in bytes */
  constructor(limit: number, parent?: MessageBudget) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** How many bytes calls hold. */
  get taken(): number {
    return this.#taken;
  }

  /** A budget within this one. */
  within(limit: number): MessageBudget {
    return new MessageBudget(limit, this);
  }

  /** Takes bytes, here and in what this is within; false where they are not to be had. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#limit) return false;
    if (this.#parent?.take(bytes) === false) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    this.#parent?.give(bytes);
  }
}

/** What the request messages of a process may take in memory, and of that those of one connection. */
export interface RequestBudget {
  readonly process: MessageBudget;
  /** In bytes. */
  readonly connectionBytes: number;
}

/** Many times the largest message that services usually take. */
const PROCESS_BYTES = 128 * 1024 * 1024;
/** How many of the largest messages there is room for at least, of which one connection may have half. */
const LARGEST_MESSAGES = 4;
/** What one connection may have of it: much, since a gateway sends the calls of many clients over one. */
const CONNECTION_SHARE = 0.5;

/** @param largest what one request message may take in memory, in bytes; where that is much, so is the budget */
export function requestBudget(largest = 0): RequestBudget {
  return budgetOf(Math.max(PROCESS_BYTES, LARGEST_MESSAGES * largest));
}

/** @param processBytes what the request messages of this process may take in memory, in bytes */
export function budgetOf(processBytes: number): RequestBudget {
  return {
    process: new MessageBudget(processBytes),
    connectionBytes: processBytes * CONNECTION_SHARE,
  };
}

/** What one call holds of a budget. */
export class MessageAccount {
  readonly #budget: MessageBudget;
  #held = 0;
  #isClosed = false;

  constructor(budget: MessageBudget) {
    this.#budget = budget;
  }

  /** @throws ServiceError RESOURCE_EXHAUSTED where the budget does not have them; CANCELLED once it is closed */
  take(bytes: number): void {
    if (this.#isClosed) throw new ServiceError("CANCELLED");
    if (!this.#budget.take(bytes)) throw exhausted();
    this.#held += bytes;
  }

  /** Gives back what it holds: the call has gone on to its next message. */
  release(): void {
    this.#budget.give(this.#held);
    this.#held = 0;
  }

  /** Gives all back for good: the call is over. */
  close(): void {
    this.#isClosed = true;
    this.release();
  }
}

function exhausted(): ServiceError {
  return ServiceError.of(
    429,
    "RESOURCE_EXHAUSTED",
    "the messages of the calls under way take all the memory that there is for them; try again later",
    { retryAfterSeconds: 1 },
  );
}
