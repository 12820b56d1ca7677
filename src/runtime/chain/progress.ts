import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import type { Handling } from "./handling.ts";

/** How far a call came, and until when it may take. */
export class Progress implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;
  /** What its handler does; from the audit stage on, where the call is audited. */
  handling: Handling | undefined = undefined;

  readonly #call: Call;
  #deadlines: Deadlines | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Begins the time of the call. @param milliseconds where the client waits for less than all calls may take */
  watch(deadlines: Deadlines, milliseconds: number | undefined): void {
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
