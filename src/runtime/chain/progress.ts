import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import type { HandlerRun } from "./handler-run.ts";

type Waiting = (reason: ServiceError) => void;

/** The progress of a call, and its deadline. */
export class Progress implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;
  /** The runs of its handler; from the audit stage on, if the call is audited. */
  handlerRun: HandlerRun | undefined = undefined;
  /** Whether its time has begun; it begins only once, even if an interceptor calls `next` again. */
  isWatched = false;
  /** Whether its handler was called. */
  isHandled = false;

  readonly #call: Call;
  #request: unknown;
  #isRead = false;
  #waiting: Waiting | undefined;
  #alsoWaiting: Waiting[] | undefined;
  #deadlines: Deadlines | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** The request, or the promise of it: it can be read only once. */
  request(): unknown {
    if (!this.#isRead) {
      this.#request = this.#call.readRequest();
      this.#isRead = true;
    }
    return this.#request;
  }

  /** Registers a waiter of the call; there are several if an interceptor calls `next` again. */
  whenAborted(waiting: Waiting): void {
    if (this.#waiting === undefined) {
      this.#waiting = waiting;
      this.#call.whenAborted(waiting);
      return;
    }
    this.#alsoWaiting ??= [this.#waiting];
    const all = this.#alsoWaiting;
    all.push(waiting);
    this.#call.whenAborted((reason) => {
      for (const one of all) one(reason);
    });
  }

  /** Begins the time of the call. @param milliseconds where the client waits for less than all calls may take */
  watch(deadlines: Deadlines, milliseconds: number | undefined): void {
    this.isWatched = true;
    if (milliseconds !== undefined) {
      this.#timer = setTimeout(() => this.expire(), milliseconds);
      return;
    }
    this.#deadlines = deadlines;
    // Not since the call arrived: stages before the timeout may have taken a while.
    deadlines.add(this, performance.now());
  }

  expire(): void {
    this.#call.abort(new ServiceError("DEADLINE_EXCEEDED"));
  }

  /** The call is over. */
  end(): void {
    this.#deadlines?.remove(this);
    clearTimeout(this.#timer);
    this.#call.ended();
  }
}
