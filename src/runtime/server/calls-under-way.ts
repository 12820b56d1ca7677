import type { Call } from "../call/call.ts";
import type { CallObserver } from "../chain/call-stages.ts";
import { shuttingDown } from "./shutting-down.ts";

/** The calls under way, which a server that ends may not wait for as long as they like. */
export class CallsUnderWay implements CallObserver {
  readonly #calls = new Set<Call>();
  #isDraining = false;

  get count(): number {
    return this.#calls.size;
  }

  begin(call: Call): void {
    this.#calls.add(call);
    // Nobody should begin to follow what ends.
    if (this.#isDraining && isStream(call)) call.abort(shuttingDown());
  }

  end(call: Call): void {
    this.#calls.delete(call);
  }

  /**
   * Ends streams once they are of some age, for many never end by themselves: a short one comes
   * to its end, and whoever follows something goes elsewhere at once. Begins no more streams.
   *
   * @param streamMs the age, in milliseconds; streams of that age already end now
   */
  drain(streamMs: number): void {
    this.#isDraining = true;
    const now = performance.now();
    for (const call of this.#calls) {
      if (!isStream(call)) continue;
      const rest = call.startedAt + streamMs - now;
      if (rest <= 0) call.abort(shuttingDown());
      else setTimeout(() => this.#endIfOpen(call), rest).unref();
    }
  }

  /** Ends all. */
  abort(): void {
    for (const call of this.#calls) call.abort(shuttingDown());
  }

  #endIfOpen(call: Call): void {
    if (this.#calls.has(call)) call.abort(shuttingDown());
  }
}

function isStream({ method: { kind } }: Call): boolean {
  return kind !== "unary" && kind !== "raw";
}
