import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import type { HandlerRun } from "./handler-run.ts";

type Waiting = (reason: ServiceError) => void;

/** How far a call came, and until when it may take. */
export class Progress implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;
  /** What its handler does; from the audit stage on, where the call is audited. */
  handlerRun: HandlerRun | undefined = undefined;
  /** Whether its time has begun, which is one also where an interceptor calls `next` again. */
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

  /** The request, or the promise of it: read once, as it comes once. */
  request(): unknown {
    if (!this.#isRead) {
      this.#request = this.#call.readRequest();
      this.#isRead = true;
    }
    return this.#request;
  }

  /** Registers one that waits for the call; several do where an interceptor calls `next` again. */
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
    // Not since the call came: what stands before the timeout may have taken a while.
    deadlines.add(this, performance.now());
  }

  expire(): void {
    this.#call.abort(new ServiceError("DEADLINE_EXCEEDED"));
  }

  /** The call is over. */
  end(): void {
    this.#deadlines?.remove(this);
    clearTimeout(this.#timer);
  }
}
