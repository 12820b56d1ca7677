import { ServiceError } from "../error/service-error.ts";
import { COUNTED_FROM_BYTES, UnreadResponses } from "./unread-responses.ts";

/** The extra share of a budget for small messages. */
const SHARE_OF_SMALL = 0.25;

/**
 * The memory limit of the request messages of all calls together, so that a few compressed bytes
 * cannot exhaust the process. A connection has a budget within that of the process.
 */
export class MessageBudget {
  readonly #limit: number;
  readonly #parent: MessageBudget | undefined;
  /** The accounts that can release memory, in the order in which they began to hold it. */
  readonly #holders = new Set<MessageAccount>();
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

  /**
   * Takes bytes, here and in the enclosing budget; false if they are not available. The accounts
   * that have held theirs longest are ended: otherwise a client that sends parts of many messages,
   * or begins many streams, and then does nothing, would block all others.
   *
   * @param account the account that takes them; accounts that began after it are not ended for it
   */
  take(bytes: number, account: MessageAccount): boolean {
    const limit = this.#limitFor(bytes);
    while (this.#taken + bytes > limit) if (!this.#endOldest(account)) return false;
    if (this.#parent?.take(bytes, account) === false) return false;
    this.#taken += bytes;
    return true;
  }

  /**
   * Whether there is memory for this many bytes if no other call holds any.
   *
   * @param held what the call itself has of them
   */
  fits(bytes: number, held: number): boolean {
    if (held + bytes > this.#limitFor(bytes)) return false;
    return this.#parent === undefined || this.#parent.fits(bytes, held);
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    this.#parent?.give(bytes);
  }

  /** The account can be ended for others from now on. */
  enter(account: MessageAccount): void {
    this.#holders.add(account);
    this.#parent?.enter(account);
  }

  leave(account: MessageAccount): void {
    this.#holders.delete(account);
    this.#parent?.leave(account);
  }

  #limitFor(bytes: number): number {
    return bytes < COUNTED_FROM_BYTES ? this.#limit * (1 + SHARE_OF_SMALL) : this.#limit;
  }

  #endOldest(except: MessageAccount): boolean {
    const [oldest] = this.#holders;
    if (oldest === undefined || oldest === except) return false;
    oldest.giveWay();
    return true;
  }
}

/** What the request messages of a process may take in memory, and of that those of one connection. */
export interface RequestBudget {
  readonly process: MessageBudget;
  /** Responses that clients have not read yet: the same limit for the process. */
  readonly unread: UnreadResponses;
  /** In bytes, of both. */
  readonly connectionBytes: number;
}

/** What the messages of one connection may take. */
export interface ConnectionMemory {
  /** Those of requests. */
  readonly budget: MessageBudget;
  /** Those of responses that the client has not taken. */
  readonly unread: UnreadResponses;
}

/** A part of that of the process, for one connection. */
export function memoryOfConnection(memory: RequestBudget): ConnectionMemory {
  const { process, unread, connectionBytes } = memory;
  return { budget: process.within(connectionBytes), unread: unread.within(connectionBytes) };
}

/** Many times the largest usual message. */
const PROCESS_BYTES = 128 * 1024 * 1024;
/** How many of the largest messages there is room for at least, of which one connection may have half. */
const LARGEST_MESSAGES = 4;
/** The share of one connection: large, since a gateway sends the calls of many clients over one. */
const CONNECTION_SHARE = 0.5;

/**
 * @param largest what one request message may take in memory, in bytes; where that is much, so is the budget
 * @param onCutOff called for each response that is cut off, since its client does not read it
 */
export function requestBudget(largest = 0, onCutOff?: () => void): RequestBudget {
  return budgetOf(Math.max(PROCESS_BYTES, LARGEST_MESSAGES * largest), onCutOff);
}

/**
 * @param processBytes what the request messages of this process may take in memory, in bytes
 * @param onCutOff called for each response that is cut off
 */
export function budgetOf(processBytes: number, onCutOff?: () => void): RequestBudget {
  return {
    process: new MessageBudget(processBytes),
    unread: new UnreadResponses(processBytes, onCutOff),
    connectionBytes: processBytes * CONNECTION_SHARE,
  };
}

/** Called when others need the memory: the messages are discarded, and the call ends. */
export type GiveWay = (reason: ServiceError) => void;

/** The source of memory for messages. */
export interface MessageMemory {
  /**
   * @param bytes what a message takes
   * @throws ServiceError RESOURCE_EXHAUSTED if fewer are free; PAYLOAD_TOO_LARGE if there are never enough
   */
  take(bytes: number): void;
}

/** The share of one call in a budget. */
export class MessageAccount implements MessageMemory {
  readonly #budget: MessageBudget;
  /** For messages that are decoded. */
  #held = 0;
  /** For the received part of a message that is not decoded. */
  #received = 0;
  /** Whether the call keeps its memory for long. */
  #lasts = false;
  #giveWay: GiveWay | undefined;
  #canGiveWay = false;
  #isClosed = false;

  constructor(budget: MessageBudget) {
    this.#budget = budget;
  }

  /**
   * @throws ServiceError RESOURCE_EXHAUSTED if the budget does not have them; PAYLOAD_TOO_LARGE where it never
   *   does; CANCELLED once it is closed
   */
  take(bytes: number): void {
    this.#takeFromBudget(bytes, this.#held);
    this.#held += bytes;
    this.#order();
  }

  /**
   * Records how many received bytes are not decoded yet: 0 once they are. While they are many, they
   * can be released for others.
   *
   * @throws ServiceError as `take` does
   */
  receive(bytes: number, giveWay: GiveWay): void {
    if (this.#isClosed) throw new ServiceError("CANCELLED");
    const counted = bytes < COUNTED_FROM_BYTES ? 0 : bytes;
    if (counted === this.#received) return;
    if (counted > this.#received) {
      this.#takeFromBudget(counted - this.#received, this.#received);
    } else this.#budget.give(this.#received - counted);
    this.#received = counted;
    this.#giveWay ??= giveWay;
    this.#order();
  }

  /** The call keeps its messages for long: if they are large, it can be ended for others. */
  lasts(giveWay: GiveWay): void {
    this.#lasts = true;
    this.#giveWay ??= giveWay;
    this.#order();
  }

  /** Releases what it can, and notifies the call. */
  giveWay(): void {
    const giveWay = this.#giveWay;
    this.#budget.give(this.#received);
    this.#received = 0;
    if (this.#lasts) this.release();
    this.#order();
    giveWay?.(exhausted());
  }

  /** Releases the memory of decoded messages: the call has continued with its next one. */
  release(): void {
    this.#budget.give(this.#held);
    this.#held = 0;
    this.#order();
  }

  /** Releases everything: the call is over. */
  close(): void {
    this.#isClosed = true;
    this.#budget.give(this.#received);
    this.#received = 0;
    this.release();
  }

  /** @param held what it has for the same message */
  #takeFromBudget(bytes: number, held: number): void {
    if (this.#isClosed) throw new ServiceError("CANCELLED");
    // Before others are ended for a message that would not fit without them either.
    if (!this.#budget.fits(bytes, held)) throw tooHeavy();
    if (!this.#budget.take(bytes, this)) throw exhausted();
  }

  /** Whether it can be ended for others, and since when. */
  #order(): void {
    const can = this.#received > 0 || (this.#lasts && this.#held >= COUNTED_FROM_BYTES);
    if (can === this.#canGiveWay) return;
    this.#canGiveWay = can;
    if (can) this.#budget.enter(this);
    else this.#budget.leave(this);
  }
}

function tooHeavy(): ServiceError {
  return new ServiceError(
    "PAYLOAD_TOO_LARGE",
    "the message exceeds the memory for the messages of a connection",
  );
}

function exhausted(): ServiceError {
  return ServiceError.of(
    429,
    "RESOURCE_EXHAUSTED",
    "the messages of the calls under way use all the memory available for them; try again later",
    { retryAfterSeconds: 1 },
  );
}
