import { isStreaming } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import type { CallObserver } from "../chain/call-stages.ts";
import { shuttingDown } from "../error/service-error.ts";

/** The calls under way; at shutdown the server waits for them only for a limited time. */
export class CallsUnderWay implements CallObserver {
  /** A call stores its index: a set would have to hash each one. */
  readonly #calls: Call[] = [];
  #isDraining = false;

  get count(): number {
    return this.#calls.length;
  }

  begin(call: Call): void {
    call.place = this.#calls.push(call) - 1;
    // New streams must not begin during the shutdown.
    if (this.#isDraining && isStreaming(call.method.kind)) call.abort(shuttingDown());
  }

  end(call: Call): void {
    if (call.place < 0) return;
    // The last one takes its place.
    const last = this.#calls.pop() as Call;
    if (last !== call) {
      this.#calls[call.place] = last;
      last.place = call.place;
    }
    call.place = -1;
  }

  /**
   * Ends streams once they have some age, since many never end by themselves: short ones can
   * finish, and clients of long ones reconnect elsewhere at once. No new streams begin.
   *
   * @param streamMs the age, in milliseconds; streams of that age already end now
   */
  drain(streamMs: number): void {
    this.#isDraining = true;
    const now = performance.now();
    for (const call of [...this.#calls]) {
      if (!isStreaming(call.method.kind)) continue;
      const rest = call.startedAt + streamMs - now;
      if (rest <= 0) call.abort(shuttingDown());
      else setTimeout(() => this.#endIfOpen(call), rest).unref();
    }
  }

  /** Ends all. */
  abort(): void {
    for (const call of [...this.#calls]) call.abort(shuttingDown());
  }

  #endIfOpen(call: Call): void {
    if (call.place >= 0) call.abort(shuttingDown());
  }
}
